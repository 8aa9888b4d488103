/** Whole texts through all guardrails of a side, one after the other: each sees what the one before left. */
import { isBlocked, type Checker, type Finding, type Side } from "./finding.ts";

export interface CheckedTexts {
  readonly texts: readonly string[];
  /** What ends the call; the texts must then not be used. */
  readonly blocked: Finding | undefined;
}

export interface TextCheck {
  readonly checker: Checker;
  readonly side: Side;
  readonly signal: AbortSignal;
  /** Told of everything that is found. */
  report(finding: Finding): void;
}

/** Fails as `Checker.judge`. */
export async function checkTexts(
  texts: readonly string[],
  { checker, report, side, signal }: TextCheck,
): Promise<CheckedTexts> {
  if (texts.length === 0) return { texts, blocked: undefined };
  const judged = await checker.judge(texts, signal);
  let blocked: Finding | undefined;
  for (const each of judged) {
    for (const found of each.findings) {
      const finding = { ...found, guardrail: checker.name, side };
      report(finding);
      if (isBlocked(each) && found.action === "block") blocked ??= finding;
    }
  }
  return { texts: judged.map(({ text }) => text), blocked };
}

/** All texts of a value through one guardrail. */
import { isBlocked, type Checker, type Finding, type Side } from "./finding.ts";

export interface TextCheck {
  readonly checker: Checker;
  readonly side: Side;
  readonly signal: AbortSignal;
  /** Told of everything that is found. */
  report(finding: Finding): void;
}

/** The value with every text replaced; always the same texts in the same order. */
export type MapTexts<Value> = (value: Value, map: (text: string) => string) => Value;

export interface Checked<Value> {
  /** With its texts as they were judged; the very same where none changed. */
  readonly value: Value;
  /** What ends the call; the value may then be recorded, and must not be used. */
  readonly blocked: Finding | undefined;
}

/** Fails as `Checker.judge`. */
export async function checkThrough<Value>(
  value: Value,
  mapTexts: MapTexts<Value>,
  { checker, report, side, signal }: TextCheck,
): Promise<Checked<Value>> {
  const texts: string[] = [];
  mapTexts(value, (text) => {
    texts.push(text);
    return text;
  });
  if (texts.length === 0) return { value, blocked: undefined };
  const judged = await checker.judge(texts, signal);
  let blocked: Finding | undefined;
  for (const each of judged) {
    for (const found of each.findings) {
      const finding = { ...found, guardrail: checker.name, side };
      report(finding);
      if (isBlocked(each) && found.action === "block") blocked ??= finding;
    }
  }
  if (judged.every(({ text }, index) => text === texts[index])) return { value, blocked };
  const rest = judged.values();
  return { value: mapTexts(value, () => rest.next().value!.text), blocked };
}

/** Checks all texts of a value with one guardrail. */
import { CooperativeYield } from "../scheduling/cooperative-yield.ts";
import { isBlocked, type Checker, type Finding, type Direction, type OnUse } from "./finding.ts";

export interface TextCheck {
  readonly checker: Checker;
  readonly side: Direction;
  readonly signal: AbortSignal;
  /** Called for each finding. */
  report(finding: Finding): void;
  readonly onUse?: OnUse | undefined;
}

export interface TextMapping {
  map(text: string): string;
  /** Values may have hundreds of thousands of texts. */
  readonly yielder: CooperativeYield;
}

/** The value with every text replaced; always the same texts in the same order. */
export type MapTexts<Value> = (value: Value, mapping: TextMapping) => Promise<Value>;

export interface Checked<Value> {
  /** The value with its checked texts; the same object if none changed. */
  readonly value: Value;
  /** What ends the call; the value may then be recorded, and must not be used. */
  readonly blocked: Finding | undefined;
}

/** Fails as `Checker.judge`. */
export async function checkTexts<Value>(
  value: Value,
  mapTexts: MapTexts<Value>,
  { checker, onUse, report, side, signal }: TextCheck,
): Promise<Checked<Value>> {
  const texts: string[] = [];
  const yielder = new CooperativeYield();
  const collect = (text: string): string => {
    texts.push(text);
    return text;
  };
  await mapTexts(value, { map: collect, yielder });
  if (texts.length === 0) return { value, blocked: undefined };
  signal.throwIfAborted();
  const judged = await checker.judge(texts, signal, onUse);
  let blocked: Finding | undefined;
  let isChanged = false;
  for (const [index, each] of judged.entries()) {
    for (const found of each.findings) {
      const finding = { ...found, guardrail: checker.name, side };
      report(finding);
      if (isBlocked(each) && found.action === "block") blocked ??= finding;
    }
    isChanged ||= each.text !== texts[index];
    if (yielder.isDue()) await yielder.yield();
  }
  if (!isChanged) return { value, blocked };
  const rest = judged.values();
  return { value: await mapTexts(value, { map: () => rest.next().value!.text, yielder }), blocked };
}

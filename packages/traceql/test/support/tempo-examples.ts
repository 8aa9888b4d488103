/** Reads Tempo's list of queries, `pkg/traceql/test_examples.yaml`, and compares what the parser makes of each. */
import { parse } from "yaml";
import { parseQuery } from "../../src/syntax/parse-query.ts";
import { parseTree } from "../../src/syntax/parse.ts";
import { printQuery } from "../../src/syntax/print.ts";

/** What Tempo expects of the queries of a section. */
export const verdicts = ["valid", "parse_fails", "validate_fails", "unsupported"] as const;
export type Verdict = (typeof verdicts)[number];

export interface ExampleResult {
  readonly query: string;
  readonly expected: Verdict;
  /** What differs; null if nothing does. */
  readonly failure: string | null;
}

export function runExamples(yaml: string): readonly ExampleResult[] {
  const sections = parse(yaml) as Partial<Record<Verdict, readonly string[]>>;
  return verdicts.flatMap((expected) =>
    (sections[expected] ?? []).map((query) => ({ query, expected, failure: failureOf(query, expected) })),
  );
}

function failureOf(query: string, expected: Verdict): string | null {
  const { reason, verdict } = judge(query);
  if (verdict === expected) return null;
  return `expected ${expected}, got ${verdict}${reason === "" ? "" : `: ${reason}`}`;
}

function judge(query: string): { readonly verdict: Verdict | "not printed"; readonly reason: string } {
  const parsed = attempt(() => parseTree(query));
  if ("error" in parsed) return { verdict: "parse_fails", reason: parsed.error };
  const checked = attempt(() => parseQuery(query));
  if ("error" in checked) {
    const isUnsupported = checked.error.endsWith("not yet supported");
    return { verdict: isUnsupported ? "unsupported" : "validate_fails", reason: checked.error };
  }
  const printed = printQuery(checked.value);
  const again = attempt(() => printQuery(parseQuery(printed)));
  if ("error" in again) return { verdict: "not printed", reason: `${printed}: ${again.error}` };
  return again.value === printed ? { verdict: "valid", reason: "" } : { verdict: "not printed", reason: printed };
}

function attempt<Value>(action: () => Value): { readonly value: Value } | { readonly error: string } {
  try {
    return { value: action() };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

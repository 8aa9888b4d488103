/** Builds the stages of pipelines for tests, and runs entries through them. */
import { entriesOf, labelsFrom, type Labels } from "@sounding/promql/series/labels";
import { neverYield } from "@sounding/promql/regex/yield-budget";
import type { LabelFilter, LabelMatcher, LineFilter, LineFilterOperator, Stage, Unwrap } from "../src/syntax/ast.ts";
import { parseTree } from "../src/syntax/parse.ts";
import { compilePipeline, type PipelineOutput } from "../src/pipeline/pipeline.ts";

export const at = { start: 0, end: 0 };

export function lineFilter(operator: LineFilterOperator, ...texts: readonly string[]): LineFilter {
  return { kind: "line-filter", operator, operands: texts.map((value) => ({ kind: "text", value })), at };
}

export function addressLineFilter(operator: LineFilterOperator, value: string): LineFilter {
  return { kind: "line-filter", operator, operands: [{ kind: "ip", value }], at };
}

export function labelFilter(filter: LabelFilter): Stage {
  return { kind: "label-filter", filter, at };
}

export function matcher(name: string, operator: LabelMatcher["operator"], value: string): LabelFilter {
  return { kind: "matcher", matcher: { name, operator, value } };
}

export function number(label: string, operator: "==" | "!=" | ">" | ">=" | "<" | "<=", value: number): LabelFilter {
  return { kind: "number", label, operator, value };
}

export interface TestEntry {
  readonly line?: string;
  readonly stream?: Readonly<Record<string, string>>;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly unixNano?: bigint;
}

interface Options {
  readonly unwrap?: Unwrap;
  readonly needed?: readonly string[];
}

/** What becomes of an entry whose work is short. */
export function run(stages: readonly Stage[], entry: TestEntry, options: Options = {}): PipelineOutput | null {
  const output = compilePipeline(stages, {
    unwrap: options.unwrap ?? null,
    neededLabels: options.needed === undefined ? undefined : new Set(options.needed),
  }).process(
    {
      unixNano: entry.unixNano ?? 0n,
      line: entry.line ?? "",
      stream: labelsFrom(Object.entries(entry.stream ?? {})),
      structuredMetadata: Object.entries(entry.metadata ?? {}).flat(),
    },
    neverYield,
  );
  if (output instanceof Promise) throw new Error("it should not need a pause");
  return output;
}

export function toObject(labels: Labels): Record<string, string> {
  return Object.fromEntries(entriesOf(labels));
}

/** The labels of an entry that must pass. */
export function labelsOf(stages: readonly Stage[], entry: TestEntry, options: Options = {}): Record<string, string> {
  const output = run(stages, entry, options);
  if (output === null) throw new Error("the entry was dropped");
  return toObject(output.labels);
}

/** The stages of a pipeline as it is written in a query, and what it unwraps. */
export function parsePipeline(text: string): { stages: readonly Stage[]; unwrap: Unwrap | null } {
  if (/\|\s*unwrap\b/.test(text)) {
    const tree = parseTree(`sum_over_time({a="b"} ${text} [1m])`);
    if (tree.kind !== "range-aggregation") throw new Error(`not a pipeline: ${text}`);
    return { stages: tree.query.stages, unwrap: tree.unwrap };
  }
  const tree = parseTree(`{a="b"} ${text}`);
  if (tree.kind !== "log-query") throw new Error(`not a pipeline: ${text}`);
  return { stages: tree.stages, unwrap: null };
}

/** The labels that a pipeline gives to a line. */
export function extract(
  text: string,
  line: string,
  entry: TestEntry = {},
  needed?: readonly string[],
): Record<string, string> {
  const { stages, unwrap } = parsePipeline(text);
  return labelsOf(
    stages,
    { ...entry, line },
    { ...(unwrap !== null && { unwrap }), ...(needed !== undefined && { needed }) },
  );
}

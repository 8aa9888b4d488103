/** Native histograms in test scripts: `{{schema:1 sum:3 count:22 buckets:[5 10 7]}}`. */
import {
  compactHistogram,
  emptyHistogram,
  noBuckets,
  type Buckets,
  type CounterResetHint,
  type FloatHistogram,
} from "../../src/histogram/float-histogram.ts";
import { formatGeneral, parseNumber } from "../../src/syntax/number-literal.ts";

export interface NotedHistogram {
  readonly histogram: FloatHistogram;
  readonly hasHint: boolean;
}

const hints: ReadonlySet<string> = new Set(["unknown", "reset", "not_reset", "gauge"]);
const keys: ReadonlySet<string> = new Set([
  "schema",
  "sum",
  "count",
  "z_bucket",
  "z_bucket_w",
  "custom_values",
  "buckets",
  "offset",
  "n_buckets",
  "n_offset",
  "counter_reset_hint",
]);

/** The histogram between double braces; throws a description of any mistake in it. */
export function parseHistogram(text: string): NotedHistogram {
  const fields = new Map<string, string>();
  for (const [, key, value] of text.slice(2, -2).matchAll(/([^\s:]+):(\[[^\]]*\]|\S+)/g)) {
    if (!keys.has(key!)) throw new Error(`bad histogram descriptor found: "${key}"`);
    if (fields.has(key!)) throw new Error(`duplicate key "${key}" in histogram`);
    fields.set(key!, value!);
  }
  const number = (key: string): number => toNumber(fields.get(key) ?? "0");
  const list = (key: string): number[] =>
    (fields.get(key)?.slice(1, -1).trim().split(/\s+/) ?? []).filter((item) => item !== "").map(toNumber);
  const hint = fields.get("counter_reset_hint");
  if (hint !== undefined && !hints.has(hint)) throw new Error(`error parsing counter_reset_hint: ${hint}`);
  const histogram: FloatHistogram = {
    ...emptyHistogram,
    counterResetHint: (hint ?? "unknown") as CounterResetHint,
    schema: number("schema"),
    sum: number("sum"),
    count: number("count"),
    zeroCount: number("z_bucket"),
    zeroThreshold: number("z_bucket_w"),
    customValues: list("custom_values"),
    positive: bucketsFrom(list("buckets"), number("offset")),
    negative: bucketsFrom(list("n_buckets"), number("n_offset")),
  };
  return { histogram, hasHint: hint !== undefined };
}

function toNumber(text: string): number {
  const value = parseNumber(text);
  if (value === undefined) throw new Error(`not a number in a histogram: ${text}`);
  return value;
}

function bucketsFrom(counts: readonly number[], offset: number): Buckets {
  return counts.length === 0 ? noBuckets : { indexes: counts.map((_, index) => offset + index), counts };
}

/** The histogram in the scripts' notation, for messages. */
export function printNotation(histogram: FloatHistogram): string {
  const compact = compactHistogram(histogram);
  const parts: string[] = [];
  const add = (key: string, value: number): void => {
    if (value !== 0) parts.push(`${key}:${formatGeneral(value)}`);
  };
  const addBuckets = (key: string, offsetKey: string, { counts, indexes }: Buckets): void => {
    if (counts.length === 0) return;
    const first = indexes[0]!;
    const all = Array.from({ length: indexes.at(-1)! - first + 1 }, () => 0);
    for (const [position, index] of indexes.entries()) all[index - first] = counts[position]!;
    add(offsetKey, first);
    parts.push(`${key}:[${all.map(formatGeneral).join(" ")}]`);
  };
  add("schema", compact.schema);
  add("count", compact.count);
  add("sum", compact.sum);
  add("z_bucket", compact.zeroCount);
  add("z_bucket_w", compact.zeroThreshold);
  if (compact.customValues.length > 0)
    parts.push(`custom_values:[${compact.customValues.map(formatGeneral).join(" ")}]`);
  if (compact.counterResetHint !== "unknown") parts.push(`counter_reset_hint:${compact.counterResetHint}`);
  addBuckets("buckets", "offset", compact.positive);
  addBuckets("n_buckets", "n_offset", compact.negative);
  return `{{${parts.join(" ")}}}`;
}

/** The words and signs of LogQL. */
import type { SourceRange } from "@sounding/promql/syntax/source-range";
import type { BinaryOperator, RangeOperator, VectorOperator } from "./ast.ts";

export const rangeOperators = [
  "rate",
  "rate_counter",
  "count_over_time",
  "bytes_rate",
  "bytes_over_time",
  "absent_over_time",
  "sum_over_time",
  "avg_over_time",
  "min_over_time",
  "max_over_time",
  "first_over_time",
  "last_over_time",
  "stddev_over_time",
  "stdvar_over_time",
  "quantile_over_time",
] as const satisfies readonly RangeOperator[];

export const vectorOperators = [
  "sum",
  "avg",
  "min",
  "max",
  "count",
  "stddev",
  "stdvar",
  "topk",
  "bottomk",
  "approx_topk",
  "sort",
  "sort_desc",
] as const satisfies readonly VectorOperator[];

export const unwrapConversions = ["bytes", "duration", "duration_seconds"] as const;

/** Words that are functions before a parenthesis (or `by` and `without`), and label names elsewhere. */
export const functionWords: ReadonlySet<string> = new Set([
  ...rangeOperators,
  ...vectorOperators,
  ...unwrapConversions,
  "label_replace",
  "vector",
  "ip",
]);

/** Words after a pipe. */
export const stageWords = [
  "json",
  "logfmt",
  "regexp",
  "pattern",
  "unpack",
  "line_format",
  "label_format",
  "decolorize",
  "drop",
  "keep",
  "unwrap",
] as const;

/** Words that are never label names; case does not matter. */
export const keywords: ReadonlySet<string> = new Set([
  ...stageWords,
  "and",
  "or",
  "unless",
  "by",
  "without",
  "bool",
  "offset",
  "on",
  "ignoring",
  "group_left",
  "group_right",
]);

/** Binary operators by how strongly they bind: those of a later row bind more strongly. */
const binaryOperators: readonly (readonly BinaryOperator[])[] = [
  ["or"],
  ["and", "unless"],
  ["==", "!=", ">", ">=", "<", "<="],
  ["+", "-"],
  ["*", "/", "%"],
  ["^"],
];

export const strengthOf: ReadonlyMap<string, number> = new Map(
  binaryOperators.flatMap((row, index) => row.map((operator) => [operator, index + 1] as const)),
);
export const powerStrength = strengthOf.get("^")!;

export type TokenKind =
  | "identifier"
  | "keyword" // `text` is in lower case
  | "function" // one of the function words, in lower case
  | "string" // `text` is the value
  | "number"
  | "duration" // `value` is in nanoseconds
  | "bytes"
  | "range" // `[5m]`; `value` is in milliseconds
  | "flag" // `--strict`
  | "sign"
  | "end";

export interface Token extends SourceRange {
  readonly kind: TokenKind;
  readonly text: string;
  /** Of numbers and quantities. */
  readonly value: number;
}

/** A token as error messages name it: kinds in capitals, as in Loki's. */
export function describeToken(token: Token): string {
  const text = token.text.length > 40 ? `${token.text.slice(0, 40)}…` : token.text;
  switch (token.kind) {
    case "end":
      return "end of input";
    case "sign":
    case "keyword":
    case "function":
    case "flag":
      return text;
    case "string":
      return `STRING ${JSON.stringify(text)}`;
    default:
      return `${token.kind.toUpperCase()} ${text}`;
  }
}

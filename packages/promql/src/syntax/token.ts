/** The words and signs of PromQL, after Prometheus' lexer (promql/parser/lex.go). */
import type { SourceRange } from "./source-range.ts";

/** Aggregation operators; each is also a valid metric or label name. */
export const aggregationOperators = [
  "sum",
  "avg",
  "count",
  "min",
  "max",
  "group",
  "stddev",
  "stdvar",
  "topk",
  "bottomk",
  "count_values",
  "quantile",
  "limitk",
  "limit_ratio",
] as const;
export type AggregationOperator = (typeof aggregationOperators)[number];

/** Binary operators by how strongly they bind: those of a later row bind more strongly. */
export const binaryOperators = [
  ["or"],
  ["and", "unless"],
  ["==", "!=", "<", "<=", ">", ">=", "</", ">/"],
  ["+", "-"],
  ["*", "/", "%", "atan2"],
  ["^"],
] as const;
export type BinaryOperator = (typeof binaryOperators)[number][number];

/** Words with a meaning besides the aggregations; case does not matter. */
const otherKeywords = [
  "and",
  "or",
  "unless",
  "atan2",
  "offset",
  "smoothed",
  "anchored",
  "by",
  "without",
  "on",
  "ignoring",
  "group_left",
  "group_right",
  "fill",
  "fill_left",
  "fill_right",
  "bool",
  "start",
  "end",
  "step",
  "range",
  "max_of",
  "min_of",
] as const;

export const keywords: ReadonlySet<string> = new Set([...aggregationOperators, ...otherKeywords]);

/** Keywords that cannot be a metric's name outside braces. */
export const reservedWords: ReadonlySet<string> = new Set([
  "atan2",
  "bool",
  "group_left",
  "group_right",
  "ignoring",
  "on",
  "inf",
  "nan",
]);

/** Keywords that are allowed inside brackets, where durations are computed. */
export const durationWords: ReadonlySet<string> = new Set(["step", "range", "max_of", "min_of"]);

export type TokenKind =
  | "identifier" // letters, digits and _
  | "metric" // an identifier with colons
  | "keyword" // `text` is in lower case
  | "number"
  | "duration"
  | "string" // `text` is the literal with its quotes
  | "sign" // operators and punctuation
  | "end";

export interface Token extends SourceRange {
  readonly kind: TokenKind;
  /** As written, but keywords in lower case. */
  readonly text: string;
}

/** A token as error messages name it. */
export function describeToken(token: Token): string {
  if (token.kind === "end") return "end of input";
  if (token.kind === "sign") {
    const isOperator = /^(?:[-+*/%^@]|==|!=|<=?|>=?|<\/|>\/|=~|!~)$/.test(token.text);
    return isOperator ? `<op:${token.text}>` : `"${token.text}"`;
  }
  if (token.kind === "keyword") {
    const isAggregation = (aggregationOperators as readonly string[]).includes(token.text);
    return isAggregation ? `<aggr:${token.text}>` : `<${token.text}>`;
  }
  const kind = token.kind === "metric" ? "metric identifier" : token.kind;
  const shown = token.text.length > 20 ? `${token.text.slice(0, 20)}…` : token.text;
  return `${kind} ${token.kind === "string" ? shown : `"${shown}"`}`;
}

/**
 * The syntax tree of PromQL. Nodes are plain frozen data; `at` is their position in the text and has no meaning
 * for the evaluation. Trees come from `parseExpression` or are built by hand from these shapes (positions: `nowhere`).
 * https://prometheus.io/docs/prometheus/latest/querying/basics/
 */
import type { SourceRange } from "./source-range.ts";
import type { AggregationOperator, BinaryOperator } from "./token.ts";

export type ValueType = "scalar" | "vector" | "matrix" | "string";

export type MatchOperator = "=" | "!=" | "=~" | "!~";

export interface LabelMatcher {
  readonly name: string;
  readonly operator: MatchOperator;
  readonly value: string;
}

export interface NumberLiteral {
  readonly kind: "number";
  readonly value: number;
  /** Written as a duration (`5m` is 300). */
  readonly isDuration: boolean;
  readonly at: SourceRange;
}

export interface StringLiteral {
  readonly kind: "string";
  readonly value: string;
  readonly at: SourceRange;
}

/** Arithmetic on durations inside brackets and after `offset` (experimental in Prometheus); all values in seconds. */
export type DurationExpression =
  | {
      readonly kind: "duration-number";
      readonly seconds: number;
      readonly isDuration: boolean;
      readonly at: SourceRange;
    }
  | { readonly kind: "duration-context"; readonly word: "step" | "range"; readonly at: SourceRange }
  | {
      readonly kind: "duration-choice";
      readonly word: "min_of" | "max_of";
      readonly left: DurationExpression;
      readonly right: DurationExpression;
      readonly at: SourceRange;
    }
  | { readonly kind: "duration-negation"; readonly operand: DurationExpression; readonly at: SourceRange }
  | { readonly kind: "duration-parentheses"; readonly inner: DurationExpression; readonly at: SourceRange }
  | {
      readonly kind: "duration-arithmetic";
      readonly operator: "+" | "-" | "*" | "/" | "%" | "^";
      readonly left: DurationExpression;
      readonly right: DurationExpression;
      readonly at: SourceRange;
    };

/** The time of `@`: a Unix time in milliseconds, or the start or end of the query's range. */
export type AtModifier = number | "start" | "end";

export interface VectorSelector {
  readonly kind: "vector-selector";
  /** The name before the braces, if any; it is also the last of the matchers. */
  readonly name: string | null;
  readonly matchers: readonly LabelMatcher[];
  readonly offset: DurationExpression | null;
  readonly atTime: AtModifier | null;
  /** Experimental range modifiers: exact boundaries instead of extrapolation. */
  readonly boundary: "anchored" | "smoothed" | null;
  readonly at: SourceRange;
}

export interface MatrixSelector {
  readonly kind: "matrix-selector";
  readonly selector: VectorSelector;
  readonly range: DurationExpression;
  readonly at: SourceRange;
}

export interface Subquery {
  readonly kind: "subquery";
  readonly expression: Expression;
  readonly range: DurationExpression;
  /** null: the engine's default. */
  readonly step: DurationExpression | null;
  readonly offset: DurationExpression | null;
  readonly atTime: AtModifier | null;
  readonly at: SourceRange;
}

export interface Aggregation {
  readonly kind: "aggregation";
  readonly operator: AggregationOperator;
  readonly expression: Expression;
  /** Of topk, bottomk, limitk, limit_ratio, quantile and count_values. */
  readonly parameter: Expression | null;
  readonly grouping: readonly string[];
  readonly without: boolean;
  readonly at: SourceRange;
}

export interface VectorMatching {
  readonly cardinality: "one-to-one" | "many-to-one" | "one-to-many" | "many-to-many";
  readonly labels: readonly string[];
  /** `on (…)` rather than `ignoring (…)`. */
  readonly on: boolean;
  /** The labels that `group_left` or `group_right` take over from the "one" side. */
  readonly include: readonly string[];
  /** Values for series that lack a partner (experimental). */
  readonly fillLeft: number | null;
  readonly fillRight: number | null;
}

export interface BinaryExpression {
  readonly kind: "binary";
  readonly operator: BinaryOperator;
  readonly left: Expression;
  readonly right: Expression;
  readonly returnBool: boolean;
  /** null unless both sides are vectors. */
  readonly matching: VectorMatching | null;
  readonly at: SourceRange;
}

export interface UnaryExpression {
  readonly kind: "unary";
  readonly operator: "+" | "-";
  readonly operand: Expression;
  readonly at: SourceRange;
}

export interface Call {
  readonly kind: "call";
  /** One of the names in functions.ts. */
  readonly function: string;
  readonly arguments: readonly Expression[];
  readonly at: SourceRange;
}

export interface Parentheses {
  readonly kind: "parentheses";
  readonly inner: Expression;
  readonly at: SourceRange;
}

export type Expression =
  | NumberLiteral
  | StringLiteral
  | VectorSelector
  | MatrixSelector
  | Subquery
  | Aggregation
  | BinaryExpression
  | UnaryExpression
  | Call
  | Parentheses;

/** The expression inside any parentheses around it. */
export function withoutParentheses(expression: Expression): Expression {
  let inner = expression;
  while (inner.kind === "parentheses") inner = inner.inner;
  return inner;
}

/** The expressions directly inside another one, in the order of the text; a range's selector counts. */
export function childrenOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case "number":
    case "string":
    case "vector-selector":
      return [];
    case "matrix-selector":
      return [expression.selector];
    case "subquery":
      return [expression.expression];
    case "aggregation":
      return expression.parameter === null ? [expression.expression] : [expression.parameter, expression.expression];
    case "binary":
      return [expression.left, expression.right];
    case "unary":
      return [expression.operand];
    case "call":
      return expression.arguments;
    case "parentheses":
      return [expression.inner];
  }
}

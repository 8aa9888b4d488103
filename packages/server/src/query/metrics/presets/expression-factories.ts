/** Builds PromQL expressions as trees. Callers' input becomes a value in the tree and is quoted when the tree is printed. */
import type {
  Aggregation,
  BinaryExpression,
  Call,
  DurationExpression,
  Expression,
  LabelMatcher,
  MatrixSelector,
  NumberLiteral,
  StringLiteral,
  VectorMatching,
} from "@sounding/promql/syntax/ast";
import { nowhere } from "@sounding/promql/syntax/source-range";
import type { AggregationOperator, BinaryOperator } from "@sounding/promql/syntax/token";

export function equals(name: string, value: string): LabelMatcher {
  return { name, operator: "=", value };
}

export function number(value: number): NumberLiteral {
  return { kind: "number", value, isDuration: false, at: nowhere };
}

export function text(value: string): StringLiteral {
  return { kind: "string", value, at: nowhere };
}

export function duration(seconds: number): DurationExpression {
  return { kind: "duration-number", seconds, isDuration: true, at: nowhere };
}

/** `name{matchers}[range]`. */
export function range(name: string, matchers: readonly LabelMatcher[], seconds: number): MatrixSelector {
  const selector = {
    kind: "vector-selector",
    name,
    matchers: [...matchers, equals("__name__", name)],
    offset: null,
    atTime: null,
    boundary: null,
    at: nowhere,
  } as const;
  return { kind: "matrix-selector", selector, range: duration(seconds), at: nowhere };
}

export function call(name: string, ...args: readonly Expression[]): Call {
  return { kind: "call", function: name, arguments: args, at: nowhere };
}

/** A vector of one series with one value and these labels. */
export function constantSeries(value: number, labels: Readonly<Record<string, string>>): Expression {
  return Object.entries(labels).reduce<Expression>(
    // In a replacement, `$` refers to groups of the regular expression.
    (series, [name, label]) =>
      call("label_replace", series, text(name), text(label.replaceAll("$", "$$$$")), text(""), text("")),
    call("vector", number(value)),
  );
}

/** `operator by (labels) (expression)`; no labels: over everything. */
export function aggregate(
  operator: AggregationOperator,
  labels: readonly string[],
  expression: Expression,
): Aggregation {
  return { kind: "aggregation", operator, expression, parameter: null, grouping: labels, without: false, at: nowhere };
}

const oneToOne: VectorMatching = {
  cardinality: "one-to-one",
  labels: [],
  on: false,
  include: [],
  fillLeft: null,
  fillRight: null,
};

/** An operator between two vectors with the same labels. */
export function betweenVectors(left: Expression, operator: BinaryOperator, right: Expression): BinaryExpression {
  const isSet = operator === "or" || operator === "and" || operator === "unless";
  const matching: VectorMatching = isSet ? { ...oneToOne, cardinality: "many-to-many" } : oneToOne;
  return {
    kind: "binary",
    operator,
    left: grouped(left),
    right: grouped(right),
    returnBool: false,
    matching,
    at: nowhere,
  };
}

/** An operator between a vector and a number. */
export function withNumber(left: Expression, operator: BinaryOperator, value: number): BinaryExpression {
  const right = number(value);
  return { kind: "binary", operator, left: grouped(left), right, returnBool: false, matching: null, at: nowhere };
}

/** Adds parentheses around operators, so that readers need not know the precedence. */
function grouped(expression: Expression): Expression {
  return expression.kind === "binary" ? { kind: "parentheses", inner: expression, at: nowhere } : expression;
}

/**
 * What stands between operators outside of braces. Parentheses and operators are the same for sets of spans, numbers and
 * metrics, so the parser reads an operand first, and learns from it what it is.
 */
import type {
  ArithmeticOperator,
  ComparisonOperator,
  MetricsExpression,
  ScalarExpression,
  ScalarFilter,
  SpansetExpression,
  SpansetOperator,
  StaticField,
  StaticValue,
} from "./ast.ts";
import { foldConstants, type FoldingOperator } from "./fold-constants.ts";

/** A number without aggregates. */
export interface Constant extends StaticField {
  readonly value: Extract<StaticValue, { readonly type: "int" | "float" | "duration" }>;
}

export type Operand =
  | { readonly type: "spanset"; readonly node: SpansetExpression }
  | { readonly type: "scalar"; readonly node: Exclude<ScalarExpression, StaticField> }
  | { readonly type: "constant"; readonly node: Constant }
  | { readonly type: "filter"; readonly node: ScalarFilter }
  | { readonly type: "metrics"; readonly node: MetricsExpression };

export const spansetOperators: ReadonlySet<string> = new Set<SpansetOperator>([
  "&&",
  "||",
  ">",
  ">>",
  "<",
  "<<",
  "~",
  "!>",
  "!>>",
  "!<",
  "!<<",
  "!~",
  "&>",
  "&>>",
  "&<",
  "&<<",
  "&~",
]);
export const comparisons: ReadonlySet<string> = new Set<ComparisonOperator>(["=", "!=", "<", "<=", ">", ">="]);
const arithmetic: ReadonlySet<string> = new Set<ArithmeticOperator>(["+", "-", "*", "/", "%", "^"]);
const metricsArithmetic: ReadonlySet<string> = new Set<FoldingOperator>(["+", "-", "*", "/"]);

/** How tightly an operator outside of braces binds; undefined for other signs. */
export function precedenceOf(sign: string): number | undefined {
  if (sign === "&&" || sign === "||") return 1;
  if (spansetOperators.has(sign) || comparisons.has(sign)) return 2;
  if (sign === "+" || sign === "-") return 3;
  if (sign === "^") return 5;
  return arithmetic.has(sign) ? 4 : undefined;
}

/** Two operands joined; a problem if the operator does not fit them. */
export function joinOperands(operator: string, left: Operand, right: Operand): Operand | { readonly problem: string } {
  const at = { start: left.node.at.start, end: right.node.at.end };
  if (left.type === "spanset" && right.type === "spanset" && spansetOperators.has(operator)) {
    const node = { operator: operator as SpansetOperator, left: left.node, right: right.node, at };
    return { type: "spanset", node: { kind: "spanset-operation", ...node } };
  }
  if (left.type === "constant" && right.type === "constant" && metricsArithmetic.has(operator)) {
    const value = foldConstants(operator as FoldingOperator, left.node.value, right.node.value);
    return "problem" in value ? value : { type: "constant", node: { kind: "static", value, at } };
  }
  return joinScalars(operator, left, right) ?? joinMetrics(operator, left, right) ?? mismatch(operator, left, right);
}

function isNumber(operand: Operand): operand is Extract<Operand, { readonly type: "scalar" | "constant" }> {
  return operand.type === "scalar" || operand.type === "constant";
}

function joinScalars(operator: string, left: Operand, right: Operand): Operand | undefined {
  if (!isNumber(left) || !isNumber(right)) return undefined;
  if (left.type === "constant" && right.type === "constant") return undefined;
  const at = { start: left.node.at.start, end: right.node.at.end };
  if (comparisons.has(operator)) {
    const node = { operator: operator as ScalarFilter["operator"], left: left.node, right: right.node, at };
    return { type: "filter", node: { kind: "scalar-filter", ...node } };
  }
  if (!arithmetic.has(operator)) return undefined;
  const node = { operator: operator as ArithmeticOperator, left: left.node, right: right.node, at };
  return { type: "scalar", node: { kind: "scalar-operation", ...node } };
}

function joinMetrics(operator: string, left: Operand, right: Operand): Operand | { problem: string } | undefined {
  if (!metricsArithmetic.has(operator)) return undefined;
  const at = { start: left.node.at.start, end: right.node.at.end };
  if (left.type === "metrics" && right.type === "metrics") {
    const node = { operator: operator as FoldingOperator, left: left.node, right: right.node, secondStages: [], at };
    return { type: "metrics", node: { kind: "metrics-operation", ...node } };
  }
  const isLeft = left.type === "constant";
  const constant = isLeft ? left : right;
  const metrics = isLeft ? right : left;
  if (constant.type !== "constant" || metrics.type !== "metrics") return undefined;
  const { value } = constant.node;
  if (value.type === "duration") return { problem: "duration cannot be used as a scalar operand in metric arithmetic" };
  const stage = { kind: "metrics-scalar", operator: operator as FoldingOperator, value: Number(value.value) } as const;
  const secondStages = [...metrics.node.secondStages, { ...stage, isLeft, at: constant.node.at }];
  return { type: "metrics", node: { ...metrics.node, secondStages, at } };
}

const operandNames: Readonly<Record<Operand["type"], string>> = {
  spanset: "spans",
  scalar: "an aggregate",
  constant: "a number",
  filter: "a comparison",
  metrics: "metrics",
};

function mismatch(operator: string, left: Operand, right: Operand): { readonly problem: string } {
  const operands = `${operandNames[left.type]} and ${operandNames[right.type]}`;
  return { problem: `unexpected "${operator}" between ${operands}` };
}

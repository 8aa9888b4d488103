/**
 * Compiles expressions on spans into functions. A comparison with a field of events or links holds if it holds for any of
 * them. docs/observability/traceql.md has the rules.
 */
import { QueryError } from "@sounding/promql/query-error";
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { FieldExpression, FieldOperation, StaticValue, UnaryOperation } from "../syntax/ast.ts";
import { textMatcher } from "./long-match.ts";
import { fieldReader, repeatedScope, withoutLeadingZeros, type FieldReader, type RepeatedScope } from "./read-field.ts";
import {
  booleanValue,
  calculate,
  compareValues,
  isTrue,
  negated,
  nil,
  stringValue,
  type OrderOperator,
} from "./static-value.ts";
import type { TraceView } from "./trace-view.ts";

export type Condition = (view: TraceView, index: number) => boolean;

export interface CompileContext {
  readonly budget: YieldBudget;
  /** Whether the comparisons of a conjunction have to hold for one and the same event or link. */
  readonly jointEvents: boolean;
}

type Comparison = FieldOperation & { readonly operator: OrderOperator | "=~" | "!~" };

export function isComparison(expression: FieldExpression): expression is Comparison {
  if (expression.kind !== "field-operation") return false;
  return /^(?:=|!=|<=?|>=?|=~|!~)$/.test(expression.operator);
}

/** The value of an expression; nil where it has none. */
export function compileValue(expression: FieldExpression, context: CompileContext): FieldReader {
  switch (expression.kind) {
    case "static": {
      const { value } = expression;
      return () => value;
    }
    case "intrinsic":
    case "attribute":
      return fieldReader(expression);
    case "unary":
      return compileUnary(expression, context);
    case "field-operation":
      return compileOperation(expression, context);
  }
}

function compileUnary({ operand, operator }: UnaryOperation, context: CompileContext): FieldReader {
  const read = compileValue(operand, context);
  if (operator === "-") return (view, index) => negated(read(view, index));
  return (view, index) => {
    const value = read(view, index);
    return value.type === "boolean" ? booleanValue(!value.value) : nil;
  };
}

function compileOperation(operation: FieldOperation, context: CompileContext): FieldReader {
  const { left, operator, right } = operation;
  if (operator === "&&" || operator === "||" || isComparison(operation)) {
    const holds = compileCondition(operation, context);
    return (view, index) => booleanValue(holds(view, index));
  }
  if ((operator === "/" || operator === "%") && isZero(right) && left.kind === "static" && left.value.type === "int") {
    throw new QueryError("invalid_request", "division by zero", { param: "q" });
  }
  const [readLeft, readRight] = [compileValue(left, context), compileValue(right, context)];
  const calculateOne = operator as Parameters<typeof calculate>[0];
  return (view, index) => calculate(calculateOne, readLeft(view, index), readRight(view, index));
}

function isZero(expression: FieldExpression): boolean {
  return expression.kind === "static" && expression.value.type === "int" && expression.value.value === 0n;
}

/** How many parts of an expression are evaluated: its cost. */
export function operatorsOf(expression: FieldExpression): number {
  let count = 0;
  const waiting = [expression];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next.kind === "unary") waiting.push(next.operand);
    else if (next.kind === "field-operation") waiting.push(next.left, next.right);
    if (next.kind !== "static") count++;
  }
  return Math.max(1, count);
}

/** Whether an expression is true. */
export function compileCondition(expression: FieldExpression, context: CompileContext): Condition {
  if (expression.kind === "field-operation") {
    const { left, operator, right } = expression;
    if (operator === "||") {
      const [isLeft, isRight] = [compileCondition(left, context), compileCondition(right, context)];
      return (view, index) => isLeft(view, index) || isRight(view, index);
    }
    if (operator === "&&") return compileConjunction(expression, context);
    if (isComparison(expression)) {
      return forAny(scopesOf(expression), compileComparison(expression, context));
    }
    return () => false;
  }
  const read = compileValue(expression, context);
  const scopes = isNegatedCondition(expression) ? [] : scopesOf(expression);
  return forAny(scopes, (view, index) => isTrue(read(view, index)));
}

/** `!(event:name = "x")` holds if no event has the name: the inner comparison looks for one. */
function isNegatedCondition(expression: FieldExpression): boolean {
  return expression.kind === "unary" && expression.operand.kind !== "attribute";
}

function compileConjunction(expression: FieldOperation, context: CompileContext): Condition {
  const parts = conjuncts(expression);
  if (!context.jointEvents) return every(parts.map((part) => compileCondition(part, context)));
  const joint = parts.filter((part) => scopesOf(part).length > 0 && isSimple(part));
  const others = parts.filter((part) => !joint.includes(part));
  if (joint.length === 0) return every(others.map((part) => compileCondition(part, context)));
  const scopes = [...new Set(joint.flatMap(scopesOf))];
  const holdsTogether = forAny(scopes, every(joint.map((part) => compileCondition(part, context))));
  return every([...others.map((part) => compileCondition(part, context)), holdsTogether]);
}

function isSimple(expression: FieldExpression): boolean {
  return isComparison(expression) || expression.kind === "attribute" || expression.kind === "intrinsic";
}

/** The parts of a chain of `&&`. */
export function conjuncts(expression: FieldExpression): readonly FieldExpression[] {
  const parts: FieldExpression[] = [];
  const waiting = [expression];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next.kind === "field-operation" && next.operator === "&&") waiting.push(next.right, next.left);
    else parts.push(next);
  }
  return parts;
}

function every(conditions: readonly Condition[]): Condition {
  if (conditions.length === 1) return conditions[0]!;
  return (view, index) => {
    for (const holds of conditions) if (!holds(view, index)) return false;
    return true;
  };
}

/** The repeated scopes that an expression reads. */
function scopesOf(expression: FieldExpression): readonly RepeatedScope[] {
  const scopes = new Set<RepeatedScope>();
  const waiting = [expression];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next.kind === "attribute" || next.kind === "intrinsic") {
      const scope = repeatedScope(next);
      if (scope !== null) scopes.add(scope);
    } else if (next.kind === "unary") waiting.push(next.operand);
    else if (next.kind === "field-operation") waiting.push(next.left, next.right);
  }
  return [...scopes];
}

function forAny(scopes: readonly RepeatedScope[], holds: Condition): Condition {
  let condition = holds;
  if (scopes.includes("event")) condition = forAnyEvent(condition);
  if (scopes.includes("link")) condition = forAnyLink(condition);
  return condition;
}

function forAnyEvent(holds: Condition): Condition {
  return (view, index) => {
    if (view.event !== null) return holds(view, index);
    for (const event of view.spans[index]!.events) {
      view.event = event;
      const isFound = holds(view, index);
      view.event = null;
      if (isFound) return true;
    }
    return false;
  };
}

function forAnyLink(holds: Condition): Condition {
  return (view, index) => {
    if (view.link !== null) return holds(view, index);
    for (const link of view.spans[index]!.links) {
      view.link = link;
      const isFound = holds(view, index);
      view.link = null;
      if (isFound) return true;
    }
    return false;
  };
}

function compileComparison({ left, operator, right }: Comparison, context: CompileContext): Condition {
  if (operator === "=~" || operator === "!~") {
    const read = compileValue(left, context);
    const test = regexTest(operator, right, context.budget);
    return (view, index) => test(read(view, index));
  }
  if (isNil(left) || isNil(right)) return compileExistence(operator, isNil(left) ? right : left, context);
  const readLeft = compileValue(withTraceId(left, right), context);
  const readRight = compileValue(withTraceId(right, left), context);
  return (view, index) => compareValues(operator, readLeft(view, index), readRight(view, index));
}

/** A constant that is compared with a trace ID, in the form in which trace IDs are read. */
function withTraceId(constant: FieldExpression, other: FieldExpression): FieldExpression {
  if (other.kind !== "intrinsic" || (other.intrinsic !== "trace:id" && other.intrinsic !== "link:traceID"))
    return constant;
  if (constant.kind !== "static" || constant.value.type !== "string") return constant;
  return { ...constant, value: stringValue(withoutLeadingZeros(constant.value.value.toLowerCase())) };
}

function isNil(expression: FieldExpression): boolean {
  return expression.kind === "static" && expression.value.type === "nil";
}

/** `expression != nil` and `expression = nil`; a comparison of two nils never holds. */
function compileExistence(operator: OrderOperator, expression: FieldExpression, context: CompileContext): Condition {
  if (isNil(expression) || (operator !== "=" && operator !== "!=")) return () => false;
  const read = compileValue(expression, context);
  const isWanted = operator === "!=";
  return (view, index) => (read(view, index).type !== "nil") === isWanted;
}

type ValueTest = (value: StaticValue) => boolean;

/** Any string of an array must match; for `!~`, none may. */
function regexTest(operator: "=~" | "!~", pattern: FieldExpression, budget: YieldBudget): ValueTest {
  if (pattern.kind !== "static" || pattern.value.type !== "string") return () => false;
  const matches = textMatcher(pattern.value.value, budget);
  const isWanted = operator === "=~";
  const test: ValueTest = (value) => value.type === "string" && matches(value.value) === isWanted;
  return (value) => {
    if (value.type !== "array") return test(value);
    return isWanted ? value.values.some(test) : value.values.every(test);
  };
}

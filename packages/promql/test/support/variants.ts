/**
 * Other queries that must have the same answer as an instant query: pinned by `@` and evaluated at other times, and
 * evaluated as the middle step of a range.
 */
import type { Expression, VectorSelector } from "../../src/syntax/ast.ts";
import { childrenOf } from "../../src/syntax/ast.ts";

/** Functions whose value depends on the evaluation's time. */
const timeDependent: ReadonlySet<string> = new Set([
  "days_in_month",
  "day_of_month",
  "day_of_week",
  "day_of_year",
  "end",
  "hour",
  "minute",
  "month",
  "year",
  "predict_linear",
  "range",
  "start",
  "step",
  "time",
  "timestamp",
]);

/** Functions whose value depends on the query's range, which makes a range query a different query. */
const contextDependent = /(?:start|end|range|step)\(\)/;

export function dependsOnQueryRange(text: string): boolean {
  return contextDependent.test(text);
}

export function dependsOnTime(expression: Expression): boolean {
  if (expression.kind === "call" && timeDependent.has(expression.function)) return true;
  return childrenOf(expression).some(dependsOnTime);
}

/** The query with every selector and subquery without `@` pinned to a time; the contents of subqueries are unchanged. */
export function pinned(expression: Expression, timeMs: number): Expression {
  const pin = (child: Expression): Expression => pinned(child, timeMs);
  switch (expression.kind) {
    case "number":
    case "string":
      return expression;
    case "vector-selector":
      return pinnedSelector(expression, timeMs);
    case "matrix-selector":
      return { ...expression, selector: pinnedSelector(expression.selector, timeMs) };
    case "subquery":
      return { ...expression, atTime: expression.atTime ?? timeMs };
    case "parentheses":
      return { ...expression, inner: pin(expression.inner) };
    case "unary":
      return { ...expression, operand: pin(expression.operand) };
    case "binary":
      return { ...expression, left: pin(expression.left), right: pin(expression.right) };
    case "aggregation":
      return {
        ...expression,
        expression: pin(expression.expression),
        parameter: expression.parameter === null ? null : pin(expression.parameter),
      };
    case "call":
      return { ...expression, arguments: expression.arguments.map(pin) };
  }
}

function pinnedSelector(selector: VectorSelector, timeMs: number): VectorSelector {
  return { ...selector, atTime: selector.atTime ?? timeMs };
}

/** Times at which a query that is pinned to `timeMs` must still have the same answer. */
export function otherTimes(timeMs: number): readonly number[] {
  return timeMs === 0 ? [-1000, 1000] : [-10 * timeMs, 0, Math.trunc(timeMs / 5), timeMs, 10 * timeMs];
}

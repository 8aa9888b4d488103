/** Which parts of a query have the same value at every step, so that one evaluation is enough. */
import type { Expression } from "../syntax/ast.ts";
import { withoutParentheses } from "../syntax/ast.ts";

/** Functions whose value depends on the evaluation time even if their arguments do not. */
const timeDependent: ReadonlySet<string> = new Set([
  "days_in_month",
  "day_of_month",
  "day_of_week",
  "day_of_year",
  "hour",
  "minute",
  "month",
  "year",
  "predict_linear",
  "time",
  "timestamp",
]);

/** Returns a function that decides, and caches, whether an expression's value is fixed. */
export function stepInvariance(): (expression: Expression) => boolean {
  const known = new WeakMap<Expression, boolean>();
  const isInvariant = (expression: Expression): boolean => {
    const found = known.get(expression) ?? compute(expression, isInvariant);
    known.set(expression, found);
    return found;
  };
  return isInvariant;
}

function compute(expression: Expression, isInvariant: (child: Expression) => boolean): boolean {
  switch (expression.kind) {
    case "number":
    case "string":
      return true;
    case "vector-selector":
    case "subquery":
      return expression.atTime !== null;
    case "matrix-selector":
      return isInvariant(expression.selector);
    case "aggregation":
      return isInvariant(expression.expression) && (expression.parameter === null || isInvariant(expression.parameter));
    case "binary":
      return isInvariant(expression.left) && isInvariant(expression.right);
    case "unary":
      return isInvariant(expression.operand);
    case "parentheses":
      return isInvariant(expression.inner);
    case "call": {
      const [first] = expression.arguments;
      // The time of a fixed sample is fixed; the time of anything else is the step's.
      const isTimeOfSample =
        expression.function === "timestamp" &&
        first !== undefined &&
        withoutParentheses(first).kind === "vector-selector";
      if (timeDependent.has(expression.function) && !isTimeOfSample) return false;
      return expression.arguments.every(isInvariant);
    }
  }
}

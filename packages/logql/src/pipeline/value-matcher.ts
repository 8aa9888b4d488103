/** Matchers of label filters, `drop` and `keep`. Unlike in stream selectors, `.` matches no newline, as in Loki. */
import { compileExpression } from "@sounding/promql/regex/regular-expression";
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { LabelMatcher } from "../syntax/ast.ts";
import { invalidQuery } from "./invalid-query.ts";
import type { Passes } from "./stage.ts";

export type ValueMatcher = (value: string, budget: YieldBudget) => Passes;

/** @throws QueryError for an invalid expression */
export function compileValueMatcher({ operator, value: wanted }: LabelMatcher): ValueMatcher {
  if (operator === "=") return (value) => value === wanted;
  if (operator === "!=") return (value) => value !== wanted;
  const expression = compileExpression(wanted, "no-newlines");
  if ("problem" in expression) throw invalidQuery(expression.problem);
  if (operator === "=~") return (value, budget) => expression.matches(value, budget);
  return (value, budget) => {
    const found = expression.matches(value, budget);
    return typeof found === "boolean" ? !found : found.then((one) => !one);
  };
}

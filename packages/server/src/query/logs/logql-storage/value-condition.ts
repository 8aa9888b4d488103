/** Conditions of the store on one value, from a matcher. */
import type { LabelMatcher } from "@sounding/promql/syntax/ast";
import { bind, sql, type Statement } from "../../../store/statement.ts";
import { storeExpression } from "../../store-expression.ts";

/** Exactly the values that match; undefined if the store cannot decide. */
export function valueCondition(value: Statement, { operator, value: wanted }: LabelMatcher): Statement | undefined {
  if (!wanted.isWellFormed()) return undefined;
  if (operator === "=") return sql`${value} = ${bind.text(wanted)}`;
  if (operator === "!=") return sql`${value} != ${bind.text(wanted)}`;
  const expression = storeExpression(wanted);
  if (expression === undefined) return undefined;
  const matches = sql`match(${value}, ${bind.text(`^(?s:${expression.text})$`)})`;
  return operator === "=~" ? matches : sql`NOT ${matches}`;
}

/** Arithmetic between two numbers of a query, which Loki computes when it parses the query. */
import { scalarOperation } from "@sounding/promql/evaluate/arithmetic";
import type { BinaryOperator } from "./ast.ts";

/** PromQL's operator, but dividing by zero gives NaN. Comparisons give 1 or 0. Not for set operators. */
export function numberOperation(
  operator: Exclude<BinaryOperator, "and" | "or" | "unless">,
): (left: number, right: number) => number {
  const compute = scalarOperation(operator);
  if (operator !== "/" && operator !== "%") return compute;
  return (left, right) => (right === 0 ? Number.NaN : compute(left, right));
}

/** Collects the labels that a query mentions in selectors, groupings, vector matching and function arguments. */
import { childrenOf, type Expression } from "@sounding/promql/syntax/ast";

export function namedLabels(expression: Expression): ReadonlySet<string> {
  const names = new Set<string>();
  const add = (found: readonly string[]): void => {
    for (const name of found) names.add(name);
  };
  const visit = (node: Expression): void => {
    if (node.kind === "vector-selector") add(node.matchers.map(({ name }) => name));
    if (node.kind === "aggregation") add(node.grouping);
    if (node.kind === "binary" && node.matching !== null) add([...node.matching.labels, ...node.matching.include]);
    if (node.kind === "string") add([node.value]);
    for (const child of childrenOf(node)) visit(child);
  };
  visit(expression);
  return names;
}

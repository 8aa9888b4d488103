/** and, or, unless: which series are in the result depends on whether partners are there, not on their values. */
import type { BinaryExpression } from "../syntax/ast.ts";
import { absent, copyStep, isEmpty, newColumn, type Column } from "./grid.ts";
import { groupByMatch, presentSteps } from "./match-groups.ts";
import { mergeColumns } from "./merge-columns.ts";
import type { QueryContext } from "./query-context.ts";

/** The set operator's result; a series keeps its labels and values. */
export async function applySetOperator(
  binary: BinaryExpression,
  { left, right, count }: { left: readonly Column[]; right: readonly Column[]; count: number },
  { budget }: QueryContext,
): Promise<readonly Column[]> {
  const results: Column[] = [];
  const fromRight: Column[] = [];
  for (const group of await groupByMatch({ many: left, one: right }, binary.matching!, budget)) {
    if (binary.operator === "or") {
      const present = presentSteps(group.many, count);
      results.push(...group.many);
      fromRight.push(...keepSteps(group.one, (step) => present[step] === 0));
    } else {
      const present = presentSteps(group.one, count);
      const wanted = binary.operator === "and" ? 1 : 0;
      results.push(...keepSteps(group.many, (step) => present[step] === wanted));
    }
    if (budget.spend((group.many.length + group.one.length) * count)) await budget.breathe();
  }
  results.push(...fromRight);
  budget.hold(results.length * count);
  return count > 1 ? mergeColumns(results) : results;
}

function keepSteps(columns: readonly Column[], keep: (step: number) => boolean): Column[] {
  return columns.flatMap((column) => {
    const kept = newColumn(column.labels, column.dropName, column.kinds.length);
    for (let step = 0; step < column.kinds.length; step++) {
      if (column.kinds[step] !== absent && keep(step)) copyStep(column, kept, step);
    }
    return isEmpty(kept) ? [] : [kept];
  });
}

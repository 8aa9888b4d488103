/** and, or, unless: which series are in the result depends on whether partners exist, not on their values. */
import type { BinaryExpression } from "../syntax/ast.ts";
import type { Budget } from "./budget.ts";
import { absent, copyStep, isEmpty, newColumn, type Column } from "./grid.ts";
import { groupByMatch, presentSteps } from "./match-groups.ts";
import { mergeColumns } from "./merge-columns.ts";
import type { OperatorContext } from "./query-context.ts";

/** The set operator's result; a series keeps its labels and values. */
export async function applySetOperator(
  binary: BinaryExpression,
  { left, right, count }: { left: readonly Column[]; right: readonly Column[]; count: number },
  { budget }: OperatorContext,
): Promise<readonly Column[]> {
  const results: Column[] = [];
  const fromRight: Column[] = [];
  for (const group of await groupByMatch({ many: left, one: right }, binary.matching!, budget)) {
    if (binary.operator === "or") {
      const present = await presentSteps(group.many, count, budget);
      for (const column of group.many) results.push(column);
      await keepSteps(group.one, (step) => present[step] === 0, { budget, into: fromRight });
    } else {
      const present = await presentSteps(group.one, count, budget);
      const wanted = binary.operator === "and" ? 1 : 0;
      await keepSteps(group.many, (step) => present[step] === wanted, { budget, into: results });
    }
    if (budget.spend((group.many.length + group.one.length) * count)) await budget.yield();
  }
  for (const column of fromRight) results.push(column);
  return count > 1 ? mergeColumns(results, budget) : results;
}

async function keepSteps(
  columns: readonly Column[],
  keep: (step: number) => boolean,
  { budget, into }: { readonly budget: Budget; readonly into: Column[] },
): Promise<void> {
  for (const column of columns) {
    budget.holdSamples(column.kinds.length);
    const kept = newColumn(column.labels, column.dropName, column.kinds.length);
    for (let step = 0; step < column.kinds.length; step++) {
      if (column.kinds[step] !== absent && keep(step)) copyStep(column, kept, step);
    }
    if (!isEmpty(kept)) into.push(kept);
    if (budget.spend(column.kinds.length)) await budget.yield();
  }
}

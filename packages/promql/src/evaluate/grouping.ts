/** The groups of an aggregation: series by the labels that `by` keeps or `without` removes. */
import { emptyLabels, ignoreLabels, keepLabels, type Labels } from "../series/labels.ts";
import type { Aggregation } from "../syntax/ast.ts";
import { workOfLabels, type Budget } from "./budget.ts";
import type { Column } from "./grid.ts";

export interface Group {
  readonly labels: Labels;
  readonly columns: Column[];
}

/** Returns a series' labels in its group. */
export function labelsInGroup({
  grouping,
  without,
}: Pick<Aggregation, "grouping" | "without">): (labels: Labels) => Labels {
  const names = new Set(without ? [...grouping, "__name__"] : grouping);
  if (without) return (labels) => ignoreLabels(labels, names);
  return grouping.length === 0 ? () => emptyLabels : (labels) => keepLabels(labels, names);
}

/** The groups in the order of their first series. */
export async function groupColumns(
  columns: readonly Column[],
  clause: Pick<Aggregation, "grouping" | "without">,
  budget: Budget,
): Promise<readonly Group[]> {
  const groups = new Map<string, Group>();
  const toGroup = labelsInGroup(clause);
  for (const column of columns) {
    const labels = toGroup(column.labels);
    const group = groups.get(labels.key);
    if (group === undefined) groups.set(labels.key, { labels, columns: [column] });
    else group.columns.push(column);
    if (budget.spend(workOfLabels)) await budget.yield();
  }
  return [...groups.values()];
}

/** The groups of an aggregation: series by the labels that `by` keeps or `without` removes. */
import { dropLabels, emptyLabels, keepLabels, type Labels } from "../series/labels.ts";
import type { Aggregation } from "../syntax/ast.ts";
import type { Column } from "./grid.ts";

export interface Group {
  readonly labels: Labels;
  readonly columns: Column[];
}

/** A series' labels in its group. */
export function groupLabels(labels: Labels, { grouping, without }: Pick<Aggregation, "grouping" | "without">): Labels {
  if (without) return dropLabels(labels, new Set([...grouping, "__name__"]));
  return grouping.length === 0 ? emptyLabels : keepLabels(labels, new Set(grouping));
}

/** The groups in the order of their first series. */
export function groupColumns(
  columns: readonly Column[],
  clause: Pick<Aggregation, "grouping" | "without">,
): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const column of columns) {
    const labels = groupLabels(column.labels, clause);
    const group = groups.get(labels.key);
    if (group === undefined) groups.set(labels.key, { labels, columns: [column] });
    else group.columns.push(column);
  }
  return [...groups.values()];
}

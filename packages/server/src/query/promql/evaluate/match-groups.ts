/** Which series of two vectors belong together: those that agree in the labels that are matched on. */
import { dropLabels, keepLabels, type Labels } from "../series/labels.ts";
import type { VectorMatching } from "../syntax/ast.ts";
import { absent, type Column } from "./grid.ts";

/** The part of a series' labels by which it finds its partners. */
export function matchLabels(labels: Labels, { labels: names, on }: Pick<VectorMatching, "labels" | "on">): Labels {
  return on ? keepLabels(labels, new Set(names)) : dropLabels(labels, new Set([...names, "__name__"]));
}

export interface MatchGroup {
  /** What its series agree in. */
  readonly labels: Labels;
  readonly many: Column[];
  readonly one: Column[];
}

/** The groups, those of the "many" side first. */
export function groupByMatch(
  many: readonly Column[],
  one: readonly Column[],
  matching: VectorMatching,
): readonly MatchGroup[] {
  const groups = new Map<string, MatchGroup>();
  const groupOf = (column: Column): MatchGroup => {
    const labels = matchLabels(column.labels, matching);
    let group = groups.get(labels.key);
    if (group === undefined) groups.set(labels.key, (group = { labels, many: [], one: [] }));
    return group;
  };
  for (const column of many) groupOf(column).many.push(column);
  for (const column of one) groupOf(column).one.push(column);
  return [...groups.values()];
}

/** 1 at each step at which some column has something. */
export function presentSteps(columns: readonly Column[], count: number): Uint8Array {
  const present = new Uint8Array(count);
  for (const { kinds } of columns) {
    for (let step = 0; step < count; step++) {
      if (kinds[step] !== absent) present[step] = 1;
    }
  }
  return present;
}

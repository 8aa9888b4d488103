/** Which series of two vectors belong together: those that agree in the labels that are matched on. */
import { ignoreLabels, keepLabels, type Labels } from "../series/labels.ts";
import type { VectorMatching } from "../syntax/ast.ts";
import { workOfLabels, type Budget } from "./budget.ts";
import { absent, type Column } from "./grid.ts";

/** Returns the labels by which a series finds its partners. */
export function labelsToMatch({ labels, on }: Pick<VectorMatching, "labels" | "on">): (labels: Labels) => Labels {
  const names = new Set(on ? labels : [...labels, "__name__"]);
  return on ? (of) => keepLabels(of, names) : (of) => ignoreLabels(of, names);
}

export interface MatchGroup {
  /** What its series agree in. */
  readonly labels: Labels;
  readonly many: Column[];
  readonly one: Column[];
}

/** The groups, those of the "many" side first. */
export async function groupByMatch(
  sides: { many: readonly Column[]; one: readonly Column[] },
  matching: VectorMatching,
  budget: Budget,
): Promise<readonly MatchGroup[]> {
  const groups = new Map<string, MatchGroup>();
  const toMatch = labelsToMatch(matching);
  for (const side of ["many", "one"] as const) {
    for (const column of sides[side]) {
      const labels = toMatch(column.labels);
      let group = groups.get(labels.key);
      if (group === undefined) groups.set(labels.key, (group = { labels, many: [], one: [] }));
      group[side].push(column);
      if (budget.spend(workOfLabels)) await budget.yield();
    }
  }
  return [...groups.values()];
}

/** 1 at each step at which some column has something. */
export async function presentSteps(columns: readonly Column[], count: number, budget: Budget): Promise<Uint8Array> {
  const present = new Uint8Array(count);
  for (const { kinds } of columns) {
    for (let step = 0; step < count; step++) {
      if (kinds[step] !== absent) present[step] = 1;
    }
    if (budget.spend(count)) await budget.yield();
  }
  return present;
}

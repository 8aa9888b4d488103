/** Sorting many series with breaks: runs are sorted at once, then merged two by two. */
import { workOfLabels, type Budget } from "./budget.ts";

const runLength = 64;

/** As `toSorted`. */
export async function sortInSlices<Item>(
  items: readonly Item[],
  compare: (left: Item, right: Item) => number,
  budget: Budget,
): Promise<readonly Item[]> {
  let runs: (readonly Item[])[] = [];
  for (let start = 0; start < items.length; start += runLength) {
    runs.push(items.slice(start, start + runLength).sort(compare));
    if (budget.spend(runLength * workOfLabels)) await budget.yield();
  }
  while (runs.length > 1) {
    const merged: (readonly Item[])[] = [];
    for (let index = 0; index < runs.length; index += 2) {
      const [left, right] = [runs[index]!, runs[index + 1]];
      merged.push(right === undefined ? left : await mergeRuns(left, right, { compare, budget }));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

async function mergeRuns<Item>(
  left: readonly Item[],
  right: readonly Item[],
  { budget, compare }: { readonly budget: Budget; readonly compare: (left: Item, right: Item) => number },
): Promise<readonly Item[]> {
  const merged: Item[] = [];
  for (let first = 0, second = 0; first < left.length || second < right.length;) {
    const takesLeft = second === right.length || (first < left.length && compare(left[first]!, right[second]!) <= 0);
    merged.push(takesLeft ? left[first++]! : right[second++]!);
    if (budget.spend(workOfLabels)) await budget.yield();
  }
  return merged;
}

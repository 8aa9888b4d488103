/** Merges the time ranges of many traces into few, so that a statement stays short and reads little in between. */
import type { TimeRange } from "../time-window.ts";

/** Each range costs the store half a millisecond before it reads anything. */
const fewRanges = 8;

/** Ranges that cover the given ones, in order of time: first overlapping ones are merged, then the nearest ones. */
export function mergeRanges(ranges: readonly TimeRange[], maximumRanges = fewRanges): TimeRange[] {
  const sorted = [...ranges].sort((left, right) => compare(left.fromUnixNano, right.fromUnixNano));
  const separate = sorted.slice(0, 1);
  for (const range of sorted.slice(1)) {
    const last = separate.at(-1)!;
    if (range.fromUnixNano > last.toUnixNano) separate.push(range);
    else separate[separate.length - 1] = joined(last, range);
  }
  const breaks = widestGaps(separate, maximumRanges);
  const few: TimeRange[] = [];
  for (const [index, range] of separate.entries()) {
    const last = few.at(-1);
    if (last === undefined || breaks.has(index)) few.push(range);
    else few[few.length - 1] = joined(last, range);
  }
  return few;
}

/** The indexes of the ranges that follow the widest gaps. @param separate in order of time, without overlaps */
function widestGaps(separate: readonly TimeRange[], maximumRanges: number): ReadonlySet<number> {
  const gaps = separate.slice(1).map(({ fromUnixNano }, index) => ({
    index: index + 1,
    length: fromUnixNano - separate[index]!.toUnixNano,
  }));
  const widest = gaps.sort((left, right) => compare(right.length, left.length)).slice(0, maximumRanges - 1);
  return new Set(widest.map(({ index }) => index));
}

function joined(left: TimeRange, right: TimeRange): TimeRange {
  return { fromUnixNano: left.fromUnixNano, toUnixNano: later(left, right) };
}

function later(left: TimeRange, right: TimeRange): bigint {
  return left.toUnixNano > right.toUnixNano ? left.toUnixNano : right.toUnixNano;
}

function compare(left: bigint, right: bigint): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

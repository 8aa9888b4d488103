/** Times of many traces as few ranges, so that a statement stays short and reads little between them. */
import type { TimeRange } from "./time-window.ts";

const maximumRanges = 64;

/** Ranges that cover all of the given ones, in order of time: overlapping ones joined, then those that are nearest. */
export function joinedRanges(ranges: readonly TimeRange[]): TimeRange[] {
  const sorted = [...ranges].sort((left, right) => compare(left.fromUnixNano, right.fromUnixNano));
  const gaps = gapsBetween(sorted).sort((left, right) => compare(right, left));
  // Gaps shorter than this are read over.
  const narrowest = gaps[maximumRanges - 2] ?? 1n;
  const joined: TimeRange[] = [];
  for (const range of sorted) {
    const last = joined.at(-1);
    const apart = last === undefined || range.fromUnixNano - last.toUnixNano >= narrowest;
    if (apart && joined.length < maximumRanges) joined.push(range);
    else joined[joined.length - 1] = { fromUnixNano: last!.fromUnixNano, toUnixNano: later(last!, range) };
  }
  return joined;
}

/** The lengths of the times that no range covers, those of zero left out. */
function gapsBetween(sorted: readonly TimeRange[]): bigint[] {
  const gaps: bigint[] = [];
  let covered = sorted[0]?.toUnixNano ?? 0n;
  for (const { fromUnixNano, toUnixNano } of sorted) {
    if (fromUnixNano > covered) gaps.push(fromUnixNano - covered);
    if (toUnixNano > covered) covered = toUnixNano;
  }
  return gaps;
}

function later(left: TimeRange, right: TimeRange): bigint {
  return left.toUnixNano > right.toUnixNano ? left.toUnixNano : right.toUnixNano;
}

function compare(left: bigint, right: bigint): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/**
 * Cuts a time range into slices for statements with FINAL. Where three or more parts of a table follow each other and overlap
 * only at their ends, ClickHouse merges the middle ones completely. A slice rarely touches more than two, of which it merges the
 * few blocks that they share. Duplicates have the same time, so they are in the same slice.
 */
import type { TimeRange } from "./time-window.ts";

/** A slice costs 2 ms of CPU time besides its rows. */
const mostSlices = 12n;
const shortestNanos = 7_200_000_000_000n;

/** The range in slices of equal length without gaps; at least one. */
export function timeSlices({ fromUnixNano, toUnixNano }: TimeRange): readonly TimeRange[] {
  const length = toUnixNano - fromUnixNano + 1n;
  const wanted = length / shortestNanos;
  const count = wanted < 1n ? 1n : wanted > mostSlices ? mostSlices : wanted;
  return Array.from({ length: Number(count) }, (_, index) => ({
    fromUnixNano: fromUnixNano + (length * BigInt(index)) / count,
    toUnixNano: fromUnixNano + (length * BigInt(index + 1)) / count - 1n,
  }));
}

/** The range of times that the store has: from 1970 to 2262, in nanoseconds. */
import { bind, join, sql, type Parameter, type Statement } from "../../../store/statement.ts";
import type { TimeRange } from "../../time-window.ts";

export const lastUnixNano = 2n ** 63n - 1n;

/** The time itself, or the nearest that a statement can compare with. */
export function clampedTime(unixNano: bigint): bigint {
  return unixNano > lastUnixNano ? lastUnixNano : unixNano < -1n ? -1n : unixNano;
}

/** Whether a row's time is in one of the ranges. */
export function timesCondition(ranges: readonly TimeRange[]): Statement {
  const bound = (unixNano: bigint): Parameter => bind.time(clampedTime(unixNano));
  const each = ranges.map(
    ({ fromUnixNano, toUnixNano }) => sql`(time >= ${bound(fromUnixNano)} AND time <= ${bound(toUnixNano)})`,
  );
  return each.length === 0 ? sql`false` : sql`(${join(each, sql` OR `)})`;
}

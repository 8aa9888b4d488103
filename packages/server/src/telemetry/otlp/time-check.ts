/**
 * Checks the times of records. Records older than the retention would be deleted immediately, and records far in the future
 * would create extra partitions. Both are rejected with a reason instead of being lost.
 */
import type { ResourceScope } from "./resource-scopes.ts";
import { fixed64At } from "../../protobuf/numbers.ts";

/** Why the time at this position is rejected, as the end of "1 span …". */
export function timeProblem(bytes: Uint8Array, at: number, group: ResourceScope): string | undefined {
  return millisecondsProblem(fixed64At(bytes, at) / 1e6, group);
}

export function millisecondsProblem(timeMs: number, group: ResourceScope): string | undefined {
  if (timeMs < group.earliestMs) return `older than the retention of ${group.days} days`;
  if (timeMs > group.latestMs) return "more than a day in the future";
  return undefined;
}

/**
 * Which times a record may have. Older than the retention, it would be deleted as soon as it is stored; far in the future,
 * it would open a partition that nothing else needs: both are refused, aloud, rather than lost.
 */
import type { ResourceScope } from "./resource-scopes.ts";
import { fixed64At } from "./numbers.ts";

/** What is wrong with the time at that place, as the end of "1 span …". */
export function timeProblem(bytes: Uint8Array, at: number, group: ResourceScope): string | undefined {
  return millisecondsProblem(fixed64At(bytes, at) / 1e6, group);
}

export function millisecondsProblem(timeMs: number, group: ResourceScope): string | undefined {
  if (timeMs < group.earliestMs) return `older than the retention of ${group.days} days`;
  if (timeMs > group.latestMs) return "more than a day in the future";
  return undefined;
}

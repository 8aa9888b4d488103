/** Limits as the database keeps them and as a request changes them. */
import type { LimitChanges } from "../api/admin.ts";
import type { Limits } from "../tenant.ts";

/** The limits with the changes made: a number sets one, null takes it away. */
export function changeLimits(limits: Limits, changes: LimitChanges | undefined): Limits {
  const merged = Object.entries({ ...limits, ...changes }).filter(([, ceiling]) => ceiling != null);
  return Object.fromEntries(merged) as Limits;
}

export function parseLimits(text: string): Limits {
  return JSON.parse(text) as Limits;
}

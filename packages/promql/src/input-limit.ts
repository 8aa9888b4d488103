/** Declares the limits on queries where the code enforces them, so that a reference can be generated from all of them. */
import type { QueryErrorCode } from "./query-error.ts";

export interface InputLimit {
  readonly area: "PromQL" | "LogQL" | "TraceQL";
  /** What the number counts, without the number: "Steps of a range query". */
  readonly bounds: string;
  readonly value: number;
  /** Absent for plain counts. */
  readonly unit?: "bytes" | "ms" | "characters";
  /** What happens beyond the limit: an error, or the described effect. */
  readonly error: QueryErrorCode | { readonly instead: string };
}

const limits: InputLimit[] = [];

/** Declares a limit and returns its number. Call it at the top level of a module without side effects. */
export function inputLimit(limit: InputLimit): number {
  limits.push(limit);
  return limit.value;
}

/** The limits of all imported modules. */
export function declaredLimits(): readonly InputLimit[] {
  return limits;
}

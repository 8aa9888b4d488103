/** Parses the time windows of queries, such as `15m`, `24h` or `7d`. */
import { showValue } from "../api/validate.ts";
import { AppError } from "../errors.ts";

const unitNanos = { m: 60_000_000_000n, h: 3_600_000_000_000n, d: 86_400_000_000_000n } as const;

/** Tolerance for senders' clocks: records dated this far ahead of our clock still count as current. */
const clockSkewNanos = 5n * unitNanos.m;

/** From `fromUnixNano` to `toUnixNano`, both inclusive, nanoseconds since 1970. */
export interface TimeRange {
  readonly fromUnixNano: bigint;
  readonly toUnixNano: bigint;
}

/**
 * The nanoseconds of a duration such as `15m`.
 * @throws AppError invalid_request that names the parameter
 */
export function parseDuration(text: string, parameter: string): bigint {
  const groups = /^(?<count>\d+)(?<unit>[mhd])$/.exec(text)?.groups as
    | { count: string; unit: keyof typeof unitNanos }
    | undefined;
  const nanos = groups === undefined ? 0n : BigInt(groups.count) * unitNanos[groups.unit];
  if (nanos > 0n) return nanos;
  throw new AppError(
    "invalid_request",
    `${parameter} is ${showValue(text)}; expected an integer of at least 1 followed by m (minutes), h (hours) or d (days), for example "24h".`,
    { param: parameter },
  );
}

/**
 * The range that a `time_window` means at a given time, cut off at 1970.
 * @throws AppError invalid_request
 */
export function timeRange(timeWindow: string, nowUnixNano: bigint): TimeRange {
  const fromUnixNano = nowUnixNano - parseDuration(timeWindow, "time_window");
  return { fromUnixNano: fromUnixNano > 0n ? fromUnixNano : 0n, toUnixNano: nowUnixNano + clockSkewNanos };
}

/** The current time in nanoseconds since 1970. */
export function nowUnixNano(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}

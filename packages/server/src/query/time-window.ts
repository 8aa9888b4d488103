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

interface RequestedTimes {
  readonly time_window?: string | null | undefined;
  readonly start?: string | null | undefined;
  readonly end?: string | null | undefined;
}

/**
 * The range that `start`, `end` and `time_window` mean: `start` is inclusive, `end` is exclusive.
 * @throws AppError invalid_request
 */
export function requestedRange(
  { end, start, time_window: timeWindow }: RequestedTimes,
  { defaultWindow, nowUnixNano: now }: { readonly defaultWindow: string; readonly nowUnixNano: bigint },
): TimeRange {
  if (start != null && timeWindow != null) {
    throw new AppError("invalid_request", "start and time_window are both set; send one of them.", { param: "start" });
  }
  const endNano = end == null ? undefined : parseTime(end, "end");
  const { fromUnixNano, toUnixNano } = timeRange(timeWindow ?? defaultWindow, endNano ?? now);
  const from = start == null ? fromUnixNano : parseTime(start, "start");
  const last = endNano === undefined ? toUnixNano : endNano - 1n;
  if (start == null || from <= last) return { fromUnixNano: from, toUnixNano: last };
  const other = end == null ? "the current time" : `end, which is ${showValue(end)}`;
  throw new AppError("invalid_request", `start is ${showValue(start)}; expected a time before ${other}.`, {
    param: "start",
  });
}

/** The end of the range of the store's times, in the year 2262. */
const lastUnixNano = 2n ** 63n - 1n;

/**
 * Nanoseconds since 1970, from an RFC 3339 time or from nanoseconds as text.
 * @throws AppError invalid_request that names the parameter
 */
export function parseTime(text: string, parameter: string): bigint {
  const unixNano = /^\d{19}$/.test(text) ? BigInt(text) : rfc3339Nano(text);
  if (unixNano !== undefined && unixNano >= 0n && unixNano <= lastUnixNano) return unixNano;
  throw new AppError(
    "invalid_request",
    `${parameter} is ${showValue(text)}; expected an RFC 3339 time such as "2026-01-31T09:30:00Z", or a UNIX time in nanoseconds (19 digits).`,
    { param: parameter },
  );
}

function rfc3339Nano(text: string): bigint | undefined {
  const form = /^(?<seconds>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(?<fraction>\d{1,9}))?(?<zone>Z|[+-]\d\d:\d\d)$/i;
  const { fraction = "", seconds = "", zone = "" } = form.exec(text)?.groups ?? {};
  const ms = Date.parse(`${seconds}${zone}`.toUpperCase());
  return Number.isNaN(ms) ? undefined : BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, "0"));
}

/** The current time in nanoseconds since 1970. */
export function nowUnixNano(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}

/** Periods of the calendar in a time zone, from the first moment of a day there to that of another. */
import type { BudgetPeriod } from "../../api/budgets.ts";

export interface CurrentPeriod {
  /** `month 2026-11-01`, by its first day; `total`. */
  readonly name: string;
  /** UNIX milliseconds; undefined: it has no start. */
  readonly startMs: number | undefined;
  /** When the next one begins; Infinity: never. */
  readonly endMs: number;
}

export const endless: CurrentPeriod = { name: "total", startMs: undefined, endMs: Infinity };

/** Days since 1970-01-01, a Thursday. */
type Day = number;

const dayMs = 86_400_000;
/** No time zone is further from UTC. */
const farthestMs = 16 * 3_600_000;
const formats = new Map<string, Intl.DateTimeFormat>();

export function isTimeZone(name: string): boolean {
  // Offsets such as +01:00 are accepted by Intl, but have no calendar of their own.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** The period of a time. @param timeZone IANA name */
export function periodAt(kind: BudgetPeriod, timeZone: string, nowMs: number): CurrentPeriod {
  if (kind === "total") return endless;
  const today = dayAt(nowMs, timeZone);
  const [first, next] = bounds(kind, today);
  return {
    name: `${kind} ${new Date(first * dayMs).toISOString().slice(0, 10)}`,
    startMs: startOf(first, timeZone),
    endMs: startOf(next, timeZone),
  };
}

function bounds(kind: Exclude<BudgetPeriod, "total">, today: Day): readonly [Day, Day] {
  if (kind === "day") return [today, today + 1];
  if (kind === "week") {
    const monday = today - ((today + 3) % 7);
    return [monday, monday + 7];
  }
  const date = new Date(today * dayMs);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return [Date.UTC(year, month, 1) / dayMs, Date.UTC(year, month + 1, 1) / dayMs];
}

/** The day that clocks in the time zone show. */
function dayAt(unixMs: number, timeZone: string): Day {
  let format = formats.get(timeZone);
  if (format === undefined) {
    const numeric = { year: "numeric", month: "numeric", day: "numeric" } as const;
    format = new Intl.DateTimeFormat("en-US", { timeZone, calendar: "gregory", ...numeric });
    formats.set(timeZone, format);
  }
  const [month, day, year] = format.format(unixMs).split("/").map(Number);
  return Date.UTC(year!, month! - 1, day) / dayMs;
}

/** The first moment of a day: not always midnight, since clocks may be put forward then. */
function startOf(day: Day, timeZone: string): number {
  let before = day * dayMs - farthestMs;
  let from = day * dayMs + farthestMs;
  while (from - before > 1) {
    const middle = Math.floor((before + from) / 2);
    if (dayAt(middle, timeZone) >= day) from = middle;
    else before = middle;
  }
  return from;
}

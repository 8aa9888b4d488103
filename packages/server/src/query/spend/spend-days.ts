/** Finds where the days of a time zone begin, and when a day or a time that a request names is. */
import { showValue } from "../../api/validate.ts";
import { AppError } from "../../errors.ts";
import { CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import { parseTime } from "../time-window.ts";

const dayMs = 86_400_000;

/** A calendar in a time zone, from the database of the runtime. */
export class ZonedDays {
  readonly zone: string;
  readonly #format: Intl.DateTimeFormat;

  /** @throws AppError invalid_request for an unknown zone */
  constructor(zone: string) {
    try {
      const date = { year: "numeric", month: "2-digit", day: "2-digit" } as const;
      // This locale writes dates as `2026-11-28`.
      this.#format = new Intl.DateTimeFormat("en-CA-u-ca-iso8601-nu-latn", { timeZone: zone, ...date });
    } catch {
      throw new AppError(
        "invalid_request",
        `time_zone is ${showValue(zone)}; expected a name of the IANA database, such as "Europe/Berlin" or "UTC".`,
        { param: "time_zone" },
      );
    }
    this.zone = zone;
  }

  /** The date at a time, such as `2026-11-28`. */
  dateAt(unixMs: number): string {
    return this.#format.format(unixMs);
  }

  /**
   * The first second of a date, in UNIX milliseconds. Where a change of clocks skips midnight, that is the first one after it.
   * @param likelyMs is looked at first
   */
  startOf(date: string, likelyMs = NaN): number {
    if (this.#startsAt(date, likelyMs)) return likelyMs;
    const midnight = Date.parse(`${date}T00:00:00Z`);
    // Clocks differ from UTC by less than a day.
    let before = midnight - dayMs;
    let after = midnight + dayMs;
    while (after - before > 1000) {
      const middle = Math.floor((before + after) / 2000) * 1000;
      if (this.dateAt(middle) < date) before = middle;
      else after = middle;
    }
    return after;
  }

  #startsAt(date: string, unixMs: number): boolean {
    return !Number.isNaN(unixMs) && this.dateAt(unixMs) === date && this.dateAt(unixMs - 1000) < date;
  }

  /** The starts of the days that a range touches, in UNIX seconds, in order of time. */
  async startsIn(fromMs: number, toMs: number): Promise<number[]> {
    const yielder = new CooperativeYield();
    const starts: number[] = [];
    let start = NaN;
    for (let date = this.dateAt(fromMs); ; date = nextDate(date)) {
      start = this.startOf(date, start + dayMs);
      if (start > toMs && starts.length > 0) return starts;
      // A date that a zone skipped, such as 2011-12-30 in Samoa, begins when the next one does.
      if (starts.at(-1) !== start / 1000) starts.push(start / 1000);
      if (yielder.isDue()) await yielder.yield();
    }
  }
}

function nextDate(date: string): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + dayMs).toISOString().slice(0, 10);
}

/**
 * UNIX nanoseconds of a time, or of the start of a date in the zone.
 * @throws AppError invalid_request that names the parameter
 */
export function parseDayOrTime(text: string, parameter: "start" | "end", days: ZonedDays): bigint {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return parseTime(text, parameter);
  const ms = Date.parse(`${text}T00:00:00Z`);
  // JavaScript reads 2026-02-31 as a day in March.
  if (ms >= dayMs && new Date(ms).toISOString().startsWith(text)) return BigInt(days.startOf(text)) * 1_000_000n;
  throw new AppError("invalid_request", `${parameter} is ${showValue(text)}; expected a day such as "2026-11-01".`, {
    param: parameter,
  });
}

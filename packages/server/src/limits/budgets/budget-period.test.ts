/** Periods begin with the first moment of a day in their time zone, also where clocks change. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import type { BudgetPeriod } from "../../api/budgets.ts";
import { isTimeZone, periodAt } from "./budget-period.ts";

const at = (time: string): number => Date.parse(time);
const cases: readonly (readonly [BudgetPeriod, string, string, string, string, string])[] = [
  ["day", "UTC", "2026-11-28T12:00:00Z", "day 2026-11-28", "2026-11-28T00:00:00Z", "2026-11-29T00:00:00Z"],
  // Clocks are put forward, then back: days of 23 and 25 hours.
  ["day", "Europe/Berlin", "2026-03-29T12:00:00Z", "day 2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"],
  ["day", "Europe/Berlin", "2026-10-25T12:00:00Z", "day 2026-10-25", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"],
  // The day begins at one o'clock, because midnight does not exist.
  ["day", "Africa/Cairo", "2026-04-24T12:00:00Z", "day 2026-04-24", "2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"],
  // The first hour of the day happens twice.
  ["day", "America/Havana", "2026-11-01T12:00:00Z", "day 2026-11-01", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"],
  [
    "day",
    "Pacific/Kiritimati",
    "2026-01-01T11:00:00Z",
    "day 2026-01-02",
    "2026-01-01T10:00:00Z",
    "2026-01-02T10:00:00Z",
  ],
  ["day", "Asia/Kathmandu", "2026-01-01T18:14:59Z", "day 2026-01-01", "2025-12-31T18:15:00Z", "2026-01-01T18:15:00Z"],
  ["week", "UTC", "2026-11-29T23:59:59Z", "week 2026-11-23", "2026-11-23T00:00:00Z", "2026-11-30T00:00:00Z"],
  [
    "week",
    "America/New_York",
    "2026-11-01T12:00:00Z",
    "week 2026-10-26",
    "2026-10-26T04:00:00Z",
    "2026-11-02T05:00:00Z",
  ],
  ["month", "UTC", "2026-12-31T23:59:59Z", "month 2026-12-01", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"],
  [
    "month",
    "Europe/Berlin",
    "2028-02-29T22:59:59Z",
    "month 2028-02-01",
    "2028-01-31T23:00:00Z",
    "2028-02-29T23:00:00Z",
  ],
];

describe("a period", () => {
  for (const [kind, timeZone, now, name, start, end] of cases) {
    test(`of a ${kind} in ${timeZone} at ${now}`, () => {
      assert.deepEqual(periodAt(kind, timeZone, at(now)), { name, startMs: at(start), endMs: at(end) });
    });
  }

  test("that is endless has no start", () => {
    assert.deepEqual(periodAt("total", "UTC", 0), { name: "total", startMs: undefined, endMs: Infinity });
  });

  test("follows the one before without a gap, in every time zone", () => {
    const kinds = fc.constantFrom<BudgetPeriod>("day", "week", "month");
    const zones = fc.constantFrom(
      "UTC",
      "Europe/Berlin",
      "America/Sao_Paulo",
      "Asia/Beirut",
      "Pacific/Chatham",
      "Australia/Lord_Howe",
    );
    fc.assert(
      fc.property(
        kinds,
        zones,
        fc.date({ min: new Date("2015-01-01"), max: new Date("2040-01-01"), noInvalidDate: true }),
        (kind, zone, date) => {
          const now = date.getTime();
          const { endMs, name, startMs } = periodAt(kind, zone, now);
          assert.ok(startMs! <= now && now < endMs);
          assert.equal(periodAt(kind, zone, endMs - 1).name, name);
          const next = periodAt(kind, zone, endMs);
          assert.equal(next.startMs, endMs);
          assert.notEqual(next.name, name);
        },
      ),
    );
  });

  test("has a time zone with an IANA name", () => {
    const names = ["Europe/Berlin", "UTC", "America/Argentina/Buenos_Aires", "+01:00", "Mars/Olympus", "", "Europe"];
    assert.deepEqual(names.filter(isTimeZone), names.slice(0, 3));
  });
});

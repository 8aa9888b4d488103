import assert from "node:assert/strict";
import { test } from "node:test";
import { formatMoney, formatNumber, formatShort } from "./numbers.ts";
import { formatDuration, formatTime, formatTimeMs } from "./times.ts";

test("numbers are shown with few digits, whole ones with all", () => {
  assert.deepEqual(["1234567", "0.333333333", "1234.56789", "NaN", "+Inf"].map(formatNumber), [
    "1234567",
    "0.3333",
    "1234.5679",
    "NaN",
    "+Inf",
  ]);
});

test("short numbers have three digits and a unit", () => {
  assert.deepEqual([0, 7, 999, 999.6, 1234, 99_950, 999_400, 999_950, 12_345_678, 3e9].map(formatShort), [
    "0",
    "7",
    "999",
    "1k",
    "1.23k",
    "100k",
    "999k",
    "1M",
    "12.3M",
    "3G",
  ]);
});

test("money has four digits below one, and cents above", () => {
  assert.deepEqual([0, 0.000_001, 0.000_42, 0.126, 12.345].map(formatMoney), [
    "0.0000",
    "<0.0001",
    "0.0004",
    "0.1260",
    "12.35",
  ]);
});

test("durations have three digits, and minutes and hours where they fit", () => {
  assert.deepEqual([0, 0.35, 0.9996, 9.876, 98.76, 999.6, 4560, 59_940, 125_000, 7_500_000].map(formatDuration), [
    "0 µs",
    "350 µs",
    "1.00 ms",
    "9.88 ms",
    "98.8 ms",
    "1.00 s",
    "4.56 s",
    "59.9 s",
    "2m 05s",
    "2h 05m",
  ]);
});

test("times are local, or UTC with a Z", () => {
  const unixMs = Date.UTC(2027, 0, 31, 9, 5, 7, 42);
  assert.equal(formatTime(unixMs, { utc: true }), "2027-01-31 09:05:07Z");
  assert.equal(formatTimeMs(unixMs, { utc: true }), "2027-01-31 09:05:07.042Z");
  assert.equal(formatTimeMs(unixMs, {}).length, "2027-01-31 09:05:07.042".length);
});

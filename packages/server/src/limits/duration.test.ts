import assert from "node:assert/strict";
import { test } from "node:test";
import { formatDuration } from "./duration.ts";

const cases: readonly [durationMs: number, text: string][] = [
  [-5, "0s"],
  [0, "0s"],
  [0.2, "1ms"],
  [12, "12ms"],
  [999.5, "1s"],
  [1_000, "1s"],
  [8_640, "8.64s"],
  [59_999, "59.999s"],
  [60_000, "1m0s"],
  [360_000, "6m0s"],
  [3_600_000, "1h0m0s"],
  [5_025_500, "1h23m45.5s"],
];

for (const [durationMs, text] of cases) {
  test(`${durationMs} ms is written ${text}`, () => assert.equal(formatDuration(durationMs), text));
}

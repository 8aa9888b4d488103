import assert from "node:assert/strict";
import { test } from "node:test";
import { retryAfterMs } from "./retry-after.ts";

const nowUnixMs = Date.parse("2026-11-21T07:00:00Z");

const cases: [headers: Record<string, string | string[]>, expected: number | undefined][] = [
  [{}, undefined],
  [{ "retry-after": "0" }, 0],
  [{ "retry-after": "2" }, 2_000],
  [{ "retry-after": " 1.25 " }, 1_250],
  [{ "retry-after": "Sat, 21 Nov 2026 07:00:30 GMT" }, 30_000],
  [{ "retry-after": "Sat, 21 Nov 2026 06:00:00 GMT" }, 0],
  [{ "retry-after": "soon" }, undefined],
  [{ "retry-after": "Saturday, 21-Nov-26 07:00:30 GMT" }, 30_000],
  [{ "retry-after": "-5" }, undefined],
  [{ "retry-after": "+5" }, undefined],
  [{ "retry-after": "1,000" }, undefined],
  [{ "retry-after": "2026-11-21T07:00:30Z" }, undefined],
  [{ "retry-after": "999999999999" }, 86_400_000],
  [{ "retry-after-ms": "999999999999" }, 86_400_000],
  [{ "retry-after": ["1", "2"] }, undefined],
  [{ "retry-after-ms": "20", "retry-after": "1" }, 20],
  [{ "retry-after-ms": "x", "retry-after": "1" }, 1_000],
];

for (const [headers, expected] of cases) {
  test(`${JSON.stringify(headers)} is ${String(expected)} ms`, () => {
    assert.equal(retryAfterMs(headers, nowUnixMs), expected);
  });
}

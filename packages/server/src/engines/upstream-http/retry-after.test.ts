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
  [{ "retry-after": "Saturday, 21-Nov-26 07:00:30 GMT" }, 30_000],
  [{ "retry-after": "soon" }, undefined],
  [{ "retry-after": "-5" }, undefined],
  [{ "retry-after": "+5" }, undefined],
  [{ "retry-after": "1,000" }, undefined],
  [{ "retry-after": "2026-11-21T07:00:30Z" }, undefined],
  [{ "retry-after": "999999999999" }, 86_400_000],
  [{ "retry-after": ["1", "2"] }, undefined],
  [{ "retry-after-ms": "20", "retry-after": "1" }, 20],
  [{ "retry-after-ms": "x", "retry-after": "1" }, 1_000],
  [{ "retry-after-ms": "999999999999" }, 86_400_000],
  [{ "retry-after": "3", "x-ratelimit-reset-requests": "6m0s" }, 3_000],
  [{ "x-ratelimit-reset-requests": "6m0s" }, 360_000],
  [{ "x-ratelimit-reset-tokens": "120ms", "x-ratelimit-reset-requests": "1.5s" }, 120],
  [
    {
      "x-ratelimit-reset-tokens": "1s",
      "x-ratelimit-remaining-tokens": "10",
      "x-ratelimit-reset-requests": "1m",
      "x-ratelimit-remaining-requests": "0",
    },
    60_000,
  ],
  [{ "x-ratelimit-reset": "30" }, 30_000],
  [{ "x-ratelimit-reset": String(nowUnixMs / 1_000 + 5) }, 5_000],
  [{ "x-ratelimit-reset": String(nowUnixMs + 5_000) }, 5_000],
  [{ "anthropic-ratelimit-tokens-reset": "2026-11-21T07:00:30Z" }, 30_000],
  [{ "x-ratelimit-reset-requests": "-1s", "x-ratelimit-reset": "never" }, undefined],
];

for (const [headers, expected] of cases) {
  test(`${JSON.stringify(headers)} is ${String(expected)} ms`, () => {
    assert.equal(retryAfterMs({ status: 429, headers, body: undefined }, nowUnixMs), expected);
  });
}

test("other answers than a 429 ask for no pause because of a limit", () => {
  const headers = { "x-ratelimit-reset-requests": "6m0s", "x-ratelimit-remaining-requests": "0" };
  assert.equal(retryAfterMs({ status: 400, headers, body: undefined }, nowUnixMs), undefined);
});

test("Google's delay is in the body", () => {
  const body = (retryDelay: unknown) => ({
    error: { code: 429, details: [{}, { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay }] },
  });
  const delayOf = (value: unknown) => retryAfterMs({ status: 429, headers: {}, body: value }, nowUnixMs);
  assert.equal(delayOf(body("34.5s")), 34_500);
  assert.equal(delayOf([body("2s")]), 2_000);
  for (const value of [body("soon"), body(5), { error: { details: 5 } }, { error: null }, null, "x"])
    assert.equal(delayOf(value), undefined);
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  AbortError,
  ConnectionError,
  InvalidAnswerError,
  statusError,
  TimeoutError,
  type SoundingError,
} from "./errors.ts";
import { retryWaitMs, type RetrySituation } from "./retry.ts";

function answered(status: number, headers: Record<string, string> = {}): SoundingError {
  const details = { message: "no", code: null, type: null, param: null, body: null };
  return statusError({ ...details, status, headers: new Headers(headers) });
}

function waitMs(failure: SoundingError, situation: Partial<RetrySituation> = {}): number | undefined {
  return retryWaitMs({ failure, retries: 0, maxRetries: 2, remainingMs: Infinity, random: 0, nowMs: 0, ...situation });
}

describe("a failed call", () => {
  for (const status of [408, 409, 429, 500, 502, 503, 504, 529]) {
    test(`is repeated after status ${status}`, () => assert.equal(waitMs(answered(status)), 500));
  }

  for (const status of [400, 401, 403, 404, 413, 415, 422]) {
    test(`is not repeated after status ${status}`, () => assert.equal(waitMs(answered(status)), undefined));
  }

  test("is repeated after a broken connection, but not after a time limit, an abort or an answer that makes no sense", () => {
    assert.equal(waitMs(new ConnectionError("gone")), 500);
    assert.equal(waitMs(new TimeoutError("late")), undefined);
    assert.equal(waitMs(new AbortError()), undefined);
    assert.equal(waitMs(new InvalidAnswerError("odd")), undefined);
  });

  test("is repeated or not as x-should-retry says", () => {
    assert.equal(waitMs(answered(500, { "x-should-retry": "false" })), undefined);
    assert.equal(waitMs(answered(400, { "x-should-retry": "true" })), 500);
  });

  test("waits twice as long each time, at most eight seconds, less up to a quarter", () => {
    const waits = [0, 1, 2, 3, 4, 5].map((retries) => waitMs(answered(500), { retries, maxRetries: 9 }));
    assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 8000]);
    assert.equal(waitMs(answered(500), { random: 1 }), 375);
  });

  test("waits as long as the server asks, in milliseconds, in seconds or to a date", () => {
    assert.equal(waitMs(answered(429, { "retry-after-ms": "50", "retry-after": "9" })), 50);
    assert.equal(waitMs(answered(429, { "retry-after": "2" })), 2000);
    assert.equal(waitMs(answered(503, { "retry-after": "Thu, 01 Jan 1970 00:00:03 GMT" })), 3000);
    assert.equal(waitMs(answered(503, { "retry-after": "Thu, 01 Jan 1970 00:00:03 GMT" }), { nowMs: 9000 }), 0);
    assert.equal(waitMs(answered(429, { "retry-after": "soon" })), 500);
  });

  test("is given up when the server asks for a longer wait than a minute or than the call may last", () => {
    assert.equal(waitMs(answered(429, { "retry-after": "61" })), undefined);
    assert.equal(waitMs(answered(429, { "retry-after": "3" }), { remainingMs: 2000 }), undefined);
  });

  test("is given up after the last retry", () => {
    assert.equal(waitMs(answered(500), { retries: 2 }), undefined);
    assert.equal(waitMs(answered(500), { maxRetries: 0 }), undefined);
  });
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { createBucket, remainingTokens, refillMs, take, consumedTokens, waitMs } from "./token-bucket.ts";

describe("a token bucket", () => {
  test("is full at first and refills at the rate of the limit", () => {
    const bucket = createBucket(0);
    assert.equal(remainingTokens(bucket, 60, 0), 60);
    take(bucket, 60);
    assert.equal(waitMs(bucket, 60, { amount: 1, nowMs: 0 }), 1_000);
    assert.equal(refillMs(bucket, 60, 0), 60_000);
    assert.equal(waitMs(bucket, 60, { amount: 1, nowMs: 1_000 }), 0);
    assert.equal(remainingTokens(bucket, 60, 30_000), 30);
    assert.equal(remainingTokens(bucket, 60, 600_000), 60);
  });

  test("keeps an overdraft until it is refilled", () => {
    const bucket = createBucket(0);
    take(bucket, 300);
    assert.equal(remainingTokens(bucket, 60, 0), 0);
    assert.equal(remainingTokens(bucket, 60, 240_000), 0);
    assert.equal(remainingTokens(bucket, 60, 270_000), 30);
  });

  test("does not change when the clock jumps back", () => {
    const bucket = createBucket(1_000_000);
    take(bucket, 30);
    assert.equal(consumedTokens(bucket, 60, 400_000), 30);
    assert.equal(consumedTokens(bucket, 60, 410_000), 20);
  });

  test("applies a changed limit at once", () => {
    const bucket = createBucket(0);
    take(bucket, 60);
    assert.equal(remainingTokens(bucket, 100, 0), 40);
    assert.equal(remainingTokens(bucket, 10, 0), 0);
  });

  test("never admits more than the limit plus what was refilled", () => {
    const steps = fc.array(
      fc.record({ afterMs: fc.integer({ min: 0, max: 20_000 }), amount: fc.integer({ min: 1, max: 50 }) }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 50, max: 5_000 }), steps, (limit, calls) => {
        const bucket = createBucket(0);
        let nowMs = 0;
        let passed = 0;
        for (const { afterMs, amount } of calls) {
          nowMs += afterMs;
          if (waitMs(bucket, limit, { amount, nowMs }) > 0) continue;
          take(bucket, amount);
          passed += amount;
          assert.ok(passed <= limit + (limit * nowMs) / 60_000 + 1e-3);
        }
      }),
    );
  });

  test("admits a call after exactly the wait that it reported", () => {
    const amounts = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1 });
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 1_000_000 }), amounts, (limit, calls) => {
        const bucket = createBucket(0);
        let nowMs = 0;
        for (const amount of calls) {
          nowMs += waitMs(bucket, limit, { amount, nowMs });
          assert.equal(waitMs(bucket, limit, { amount, nowMs }), 0);
          take(bucket, amount);
        }
      }),
    );
  });
});

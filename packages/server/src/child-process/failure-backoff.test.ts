import assert from "node:assert/strict";
import { test } from "node:test";
import { FailureBackoff } from "./failure-backoff.ts";

// So long that the test's own duration does not matter.
const limits = { firstMs: 1e9, longestMs: 3e9 };

test("the first failure needs no pause; each later pause doubles, up to the limit", () => {
  const backoff = new FailureBackoff(limits);
  assert.equal(backoff.leftMs, 0);
  const pauses = [0, 1, 2, 3, 4].map(() => {
    backoff.fail();
    return Math.round(backoff.leftMs / 1e9);
  });
  assert.deepEqual(pauses, [0, 1, 2, 3, 3]);
  assert.equal(backoff.count, 5);
});

test("a success resets the count of failures", () => {
  const backoff = new FailureBackoff(limits);
  backoff.fail();
  backoff.fail();
  backoff.succeed();
  assert.equal(backoff.count, 0);
  backoff.fail();
  assert.equal(backoff.leftMs, 0);
});

test("a failure may have its own limit", () => {
  const backoff = new FailureBackoff(limits);
  backoff.fail();
  backoff.fail(1_000);
  assert.ok(backoff.leftMs <= 1_000);
});

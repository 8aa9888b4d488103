import assert from "node:assert/strict";
import { test } from "node:test";
import { timeSlices } from "./time-slices.ts";

const hour = 3_600_000_000_000n;

test("cuts a day into slices without gaps that together are the day", () => {
  const slices = timeSlices({ fromUnixNano: 7n, toUnixNano: 24n * hour });
  assert.equal(slices[0]!.fromUnixNano, 7n);
  assert.equal(slices.at(-1)!.toUnixNano, 24n * hour);
  for (const [index, { fromUnixNano }] of slices.slice(1).entries()) {
    assert.equal(fromUnixNano, slices[index]!.toUnixNano + 1n);
  }
  assert.ok(slices.length > 1);
});

test("leaves a short or empty range as it is", () => {
  for (const range of [
    { fromUnixNano: 5n, toUnixNano: hour },
    { fromUnixNano: 5n, toUnixNano: 5n },
    { fromUnixNano: 5n, toUnixNano: 4n },
  ]) {
    assert.deepEqual(timeSlices(range), [range]);
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { array, assert as check, integer, property } from "fast-check";
import { inTimeOrder } from "./value-columns.ts";

test("points in any order are sorted by time; the last one wins at equal times", () => {
  check(
    property(array(integer({ min: 0, max: 30 }), { maxLength: 40 }), (times) => {
      const numbers = times.map((_, index) => index);
      const ordered = inTimeOrder({
        timestampsMs: Float64Array.from(times),
        values: Float64Array.from(numbers),
        startTimestampsMs: Float64Array.from(numbers, (index) => index * 2),
        stale: Uint8Array.from(numbers, (index) => index % 2),
      });
      const lastOf = new Map(times.map((time, index) => [time, index]));
      const expected = [...lastOf].sort(([left], [right]) => left - right);
      assert.deepEqual(
        [...ordered.timestampsMs],
        expected.map(([time]) => time),
      );
      assert.deepEqual(
        [...ordered.values],
        expected.map(([, index]) => index),
      );
      assert.deepEqual(
        [...ordered.startTimestampsMs!],
        expected.map(([, index]) => index * 2),
      );
      assert.deepEqual(
        [...ordered.stale!],
        expected.map(([, index]) => index % 2),
      );
    }),
  );
});

/** Sorting and merging many numbers in slices, which lets other requests run. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { sortNumbers } from "../src/evaluate/sort-numbers.ts";
import { SortedWindow } from "../src/evaluate/sorted-window.ts";
import { runSteps } from "../src/pipeline/run-steps.ts";

/** Counts pauses; asks for one whenever it may. */
function impatient() {
  const budget = { pauses: 0, spend: () => true, yield: () => Promise.resolve(void budget.pauses++) };
  return budget;
}

/** Up to some runs, with repeated values and NaN. */
const numbers = fc
  .tuple(fc.array(fc.double(), { minLength: 1, maxLength: 20 }), fc.integer({ min: 0, max: 70_000 }), fc.nat())
  .map(([some, length, seed]) =>
    Float64Array.from({ length }, (_, index) => {
      const value = some[((index + 1) * (seed + 7919)) % some.length]!;
      return index % 3 === 0 ? value : value + (index % 101);
    }),
  );

test("numbers are sorted as by the built-in sort, NaN last", async () => {
  await fc.assert(
    fc.asyncProperty(numbers, async (values) => {
      const sorted = await sortNumbers(values, impatient());
      const expected = values.toSorted();
      // Adding 0 makes signed zeros equal.
      assert.ok(sorted.every((value, index) => Object.is(value + 0, expected[index]! + 0)));
    }),
    { numRuns: 5 },
  );
});

test("many numbers are sorted, added and removed with pauses", async () => {
  const values = Float64Array.from({ length: 600_000 }, (_, index) => (index * 7919) % 600_000);
  const budget = impatient();
  const sorted = await sortNumbers(values, budget);
  assert.ok(budget.pauses > 100, `${budget.pauses} pauses`);
  assert.deepEqual(sorted, values.toSorted());
  const window = new SortedWindow(values.length);
  const odd = sorted.filter((value) => value % 2 === 1);
  for (const change of [
    window.add(odd, budget),
    window.add(
      sorted.filter((value) => value % 2 === 0),
      budget,
    ),
  ]) {
    const before = budget.pauses;
    await runSteps(change);
    assert.ok(budget.pauses > before + 10);
  }
  assert.equal(window.quantile(0.5), 299_999.5);
  const before = budget.pauses;
  await runSteps(window.remove(odd, budget));
  assert.ok(budget.pauses > before + 10);
  assert.equal(window.size, 300_000);
  assert.equal(window.quantile(1), 599_998);
});

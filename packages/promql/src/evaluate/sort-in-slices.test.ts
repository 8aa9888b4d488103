/** Sorting in slices gives the same order as sorting at once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Budget, defaultLimits } from "./budget.ts";
import { sortInSlices } from "./sort-in-slices.ts";

test("equal items keep their order, as in toSorted", async () => {
  const items = fc.array(fc.record({ key: fc.nat(20), place: fc.nat() }), { maxLength: 700, size: "max" });
  const compare = (left: { key: number }, right: { key: number }): number => left.key - right.key;
  await fc.assert(
    fc.asyncProperty(items, async (all) => {
      const budget = new Budget(defaultLimits, new AbortController().signal);
      assert.deepEqual(await sortInSlices(all, compare, budget), all.toSorted(compare));
    }),
  );
});

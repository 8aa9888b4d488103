import assert from "node:assert/strict";
import { test } from "node:test";
import { Amounts } from "./amounts.ts";

test("amounts add up by name, and a name whose amount is gone is forgotten", () => {
  const amounts = new Amounts();
  amounts.add("a", 2);
  amounts.add("b", 3);
  amounts.add("a", 5);
  assert.deepEqual([amounts.of("a"), amounts.of("b"), amounts.of("c")], [7, 3, 0]);
  assert.deepEqual([amounts.total, amounts.size], [10, 2]);
  amounts.remove("a", 7);
  assert.deepEqual([amounts.of("a"), amounts.total, amounts.size], [0, 3, 1]);
});

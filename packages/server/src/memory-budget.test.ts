import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryBudget } from "./memory-budget.ts";

test("one organization gets half of the budget, and all together get the whole", () => {
  const budget = new MemoryBudget(100);
  const [a, alsoA, b, c] = [budget.open("a"), budget.open("a"), budget.open("b"), budget.open("c")];
  a.add(50);
  assert.throws(() => alsoA.add(1), { code: "rate_limited" });
  b.add(40);
  assert.throws(() => c.add(11), { code: "overloaded" });
  c.add(10);
  a.release();
  c.add(40);
  assert.equal(budget.usedBytes, 90);
});

test("a request larger than its organization's share is refused permanently", () => {
  const charge = new MemoryBudget(100).open("a");
  charge.add(50);
  assert.throws(() => charge.add(1), { code: "payload_too_large" });
});

test("a refused addition is not counted, and a release counts once", () => {
  const budget = new MemoryBudget(100);
  const charge = budget.open("a");
  charge.add(30);
  assert.throws(() => charge.add(21));
  charge.add(20);
  charge.remove(5);
  charge.release();
  charge.release();
  assert.equal(budget.usedBytes, 0);
  budget.open("a").add(50);
});

test("work that continues after its request ended cannot charge any more", () => {
  const budget = new MemoryBudget(100);
  const charge = budget.open("a");
  charge.release();
  assert.throws(() => charge.add(1), { code: "client_closed" });
  charge.remove(1);
  assert.equal(budget.usedBytes, 0);
});

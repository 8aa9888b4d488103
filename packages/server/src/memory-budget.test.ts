import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryBudget, type MemoryCharge } from "./memory-budget.ts";

test("one organization gets half of the budget, and each further one as much as it leaves free", () => {
  const budget = new MemoryBudget(128);
  const [a, alsoA, b, c] = [budget.open("a"), budget.open("a"), budget.open("b"), budget.open("c")];
  a.add(64);
  assert.throws(() => alsoA.add(1), { code: "rate_limited" });
  b.add(32);
  assert.throws(() => b.add(1), { code: "overloaded" });
  c.add(16);
  assert.throws(() => c.add(1), { code: "overloaded" });
  a.release();
  c.add(24);
  assert.equal(budget.usedBytes, 72);
});

test("whatever organizations hold, a newcomer gets something", () => {
  const budget = new MemoryBudget(1024);
  const fill = (charge: MemoryCharge): void => {
    assert.throws(() => {
      for (;;) charge.add(1);
    });
  };
  for (const name of ["a", "b", "c", "d", "e"]) fill(budget.open(name));
  budget.open("newcomer").add(16);
});

test("requests without a key take nothing from those with one, and one client cannot take all of theirs", () => {
  const budget = new MemoryBudget(1024);
  const client = budget.openAnonymous("192.0.2.1");
  client.add(32);
  assert.throws(() => client.add(1), { code: "payload_too_large" });
  assert.throws(() => budget.openAnonymous("192.0.2.1").add(1), { code: "rate_limited" });
  budget.openAnonymous("192.0.2.2").add(16);
  budget.open("a").add(512);
  assert.equal(budget.usedBytes, 560);
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

import assert from "node:assert/strict";
import { test } from "node:test";
import { BodyMemory } from "./body-memory.ts";

test("one organization gets half of the memory, and all together get the whole", () => {
  const memory = new BodyMemory(100);
  const [a, b, c] = [memory.open("a"), memory.open("b"), memory.open("c")];
  a.add(50);
  assert.throws(() => a.add(1), { code: "rate_limited" });
  b.add(40);
  assert.throws(() => c.add(11), { code: "overloaded" });
  c.add(10);
  a.release();
  c.add(40);
  assert.throws(() => c.add(1), { code: "rate_limited" });
});

test("what was refused is not counted, and a release counts once", () => {
  const memory = new BodyMemory(100);
  const charge = memory.open("a");
  charge.add(30);
  assert.throws(() => charge.add(21));
  charge.add(20);
  charge.release();
  charge.release();
  const next = memory.open("a");
  next.add(50);
  assert.throws(() => next.add(1), { code: "rate_limited" });
});

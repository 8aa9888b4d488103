/** How calls and organizations take turns at the recognizer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { countUsage, hasLessUsage, DecodingUsage } from "./decoding-usage.ts";

test("one organization's single call precedes the queue of an organization that was served before", () => {
  const usages = new DecodingUsage();
  const [served, waiting] = [usages.open("crowd"), usages.open("crowd")];
  const single = usages.open("single");
  countUsage(served, 100);
  assert.ok(hasLessUsage(single, waiting) && !hasLessUsage(waiting, single));
  assert.ok(hasLessUsage(waiting, served), "calls of one organization take turns");
  for (const usage of [served, waiting]) usage[Symbol.dispose]();
  using late = usages.open("late");
  assert.ok(!hasLessUsage(late, single), "who comes late makes up for nothing");
});

test("a call that comes late precedes the queue of a call that was served, and then takes turns with it", () => {
  for (const name of ["same", "other"]) {
    const usages = new DecodingUsage();
    using long = usages.open("same");
    countUsage(long, 5_000);
    using late = usages.open(name);
    assert.ok(hasLessUsage(late, long) && !hasLessUsage(long, late));
    countUsage(late, 1);
    assert.ok(hasLessUsage(long, late));
  }
});

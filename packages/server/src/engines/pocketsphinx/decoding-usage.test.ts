/** Turns of calls and organizations at the recognizer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { hasLessUsage, DecodingUsage } from "./decoding-usage.ts";

test("the single call of an organization goes before the waiting calls of one that was served already", () => {
  const shares = new DecodingUsage();
  const [served, waiting] = [shares.open("crowd"), shares.open("crowd")];
  const single = shares.open("single");
  served.usedSamples += 100;
  served.group.usedSamples += 100;
  assert.ok(hasLessUsage(single, waiting) && !hasLessUsage(waiting, single));
  assert.ok(hasLessUsage(waiting, served), "calls of one organization take turns");
  for (const share of [served, waiting]) share[Symbol.dispose]();
  using late = shares.open("late");
  assert.ok(!hasLessUsage(late, single), "who comes late makes up for nothing");
});

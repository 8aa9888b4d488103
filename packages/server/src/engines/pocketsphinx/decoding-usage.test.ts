/** How calls and organizations take turns at the recognizer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { hasLessUsage, DecodingUsage } from "./decoding-usage.ts";

test("one organization's single call precedes the queue of an organization that was served before", () => {
  const usages = new DecodingUsage();
  const [served, waiting] = [usages.open("crowd"), usages.open("crowd")];
  const single = usages.open("single");
  served.usedSamples += 100;
  served.group.usedSamples += 100;
  assert.ok(hasLessUsage(single, waiting) && !hasLessUsage(waiting, single));
  assert.ok(hasLessUsage(waiting, served), "calls of one organization take turns");
  for (const usage of [served, waiting]) usage[Symbol.dispose]();
  using late = usages.open("late");
  assert.ok(!hasLessUsage(late, single), "who comes late makes up for nothing");
});

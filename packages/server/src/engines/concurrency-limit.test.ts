/** The limit on an engine's calls, and what it leaves for an organization when others fill it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ConcurrencyLimit } from "./concurrency-limit.ts";

test("an organization that fills an engine's queue leaves room for another organization's calls", () => {
  const slots = new ConcurrencyLimit('The engine "local"', 16);
  const crowd = Array.from({ length: 16 }, () => slots.take("crowd"));
  assert.throws(() => slots.take("crowd"), {
    code: "overloaded",
    retryAfterMs: 1_000,
    message: 'The engine "local" has 16 calls running or waiting; its limit is 16. Retry later.',
  });
  using _first = slots.take("single");
  using _second = slots.take("single");
  assert.throws(() => slots.take("single"), { code: "overloaded" });
  for (const slot of crowd) slot[Symbol.dispose]();
  using _third = slots.take("single", 14);
  assert.throws(() => slots.take("single"), { code: "overloaded" });
});

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { timeLimits, DeadlineWatch } from "./time-limits.ts";

test("a target's limits override the engine's, one by one", () => {
  const engine = { connect_timeout_ms: 1, first_byte_timeout_ms: 2, idle_timeout_ms: 3, total_timeout_ms: 4 };
  assert.deepEqual(timeLimits(engine, { idle_timeout_ms: 30 }), {
    connectTimeoutMs: 1,
    firstByteTimeoutMs: 2,
    idleTimeoutMs: 30,
    totalTimeoutMs: 4,
  });
});

test("input that arrived while the process was busy is read before a timeout is declared", async () => {
  const watch = new DeadlineWatch();
  const order: string[] = [];
  const judged = new EventTarget();
  const timed = {
    setIndex: -1,
    checkTime: (): void => {
      order.push("judged");
      judged.dispatchEvent(new Event("judged"));
    },
  };
  watch.add(timed);
  await once(judged, "judged");
  order.length = 0;
  const until = performance.now() + 400;
  while (performance.now() < until);
  setImmediate(() => order.push("read"));
  await once(judged, "judged");
  watch.remove(timed);
  assert.deepEqual(order, ["read", "judged"]);
});

test("an entry that was removed is not checked any more", async () => {
  const watch = new DeadlineWatch();
  let count = 0;
  const removed = { setIndex: -1, checkTime: () => void count++ };
  const checks = new EventTarget();
  const kept = { setIndex: -1, checkTime: () => void checks.dispatchEvent(new Event("check")) };
  watch.add(removed);
  watch.add(kept);
  watch.remove(removed);
  await once(checks, "check");
  await once(checks, "check");
  watch.remove(kept);
  assert.equal(count, 0);
});

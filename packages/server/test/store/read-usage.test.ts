import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ReadUsage } from "../../src/store/read-usage.ts";
import { beforeEachTest } from "../../../../test/support/hooks.ts";

describe("the priority of an organization's statements", () => {
  let nowMs: number;
  let usage: ReadUsage;
  beforeEachTest(() => {
    nowMs = 0;
    usage = new ReadUsage(() => nowMs);
  });
  function use(organization: string, ms: number): void {
    usage.start(organization);
    nowMs += ms;
    usage.stop(organization);
  }

  test("is the same for all that the organization runs while no other uses the store", () => {
    assert.equal(usage.priorityOf("a"), 3);
    use("a", 5000);
    assert.equal(usage.priorityOf("a"), 3);
    usage.start("a");
    nowMs += 60_000;
    assert.equal(usage.priorityOf("a"), 3);
  });

  test("is higher than that of one that uses the store twice as much, or four times", () => {
    use("a", 1000);
    assert.deepEqual([usage.priorityOf("a"), usage.priorityOf("b")], [3, 1]);
    use("b", 300);
    assert.deepEqual([usage.priorityOf("a"), usage.priorityOf("b")], [3, 2]);
    use("b", 400);
    assert.deepEqual([usage.priorityOf("a"), usage.priorityOf("b")], [3, 3]);
    use("b", 2000);
    assert.deepEqual([usage.priorityOf("a"), usage.priorityOf("b")], [2, 3]);
  });

  test("counts statements that are still running, several at once several times", () => {
    usage.start("a");
    nowMs += 1000;
    assert.equal(usage.priorityOf("b"), 1);
    usage.start("b");
    usage.start("a");
    usage.start("a");
    nowMs += 10_000;
    assert.deepEqual([usage.priorityOf("a"), usage.priorityOf("b")], [3, 2]);
  });

  test("does not depend on a few milliseconds", () => {
    use("a", 20);
    assert.deepEqual([usage.priorityOf("a"), usage.priorityOf("b")], [3, 3]);
  });

  test("forgets use with time", () => {
    use("a", 4000);
    nowMs += 30_000;
    use("b", 500);
    assert.deepEqual([usage.priorityOf("a"), usage.priorityOf("b")], [3, 3]);
    nowMs += 600_000;
    assert.deepEqual([usage.priorityOf("a"), usage.priorityOf("c")], [3, 3]);
  });
});

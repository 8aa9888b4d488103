import assert from "node:assert/strict";
import { setImmediate as nextLoopTurn } from "node:timers/promises";
import { describe, test } from "node:test";
import { longStep, CooperativeYield } from "./cooperative-yield.ts";
import { runWithCost, RequestCost } from "./request-cost.ts";

function workOf(organizationId: string): RequestCost {
  const cost = new RequestCost("test");
  cost.organizationId = organizationId;
  return cost;
}

/** Work whose every step is long, so that each look at the clock ends a slice if other work waits. */
async function evaluate(yielder: number, onSlice: () => void): Promise<void> {
  const cut = new CooperativeYield();
  for (let done = 0; done < yielder; done++) {
    onSlice();
    const endMs = performance.now() + 2.5;
    while (performance.now() < endMs);
    if (cut.isDue(longStep)) await cut.yield();
  }
}

describe("time slices", () => {
  test("take one slice of each iteration of the event loop, however many evaluations run", async () => {
    let running = 0;
    const evaluations = Array.from({ length: 40 }, () =>
      runWithCost(workOf("a"), () => evaluate(5, () => void running++)),
    );
    const perTurn: number[] = [];
    let before = running;
    for (;;) {
      await nextLoopTurn();
      perTurn.push(running - before);
      before = running;
      if (before === 200) break;
    }
    await Promise.all(evaluations);
    assert.equal(running, 200);
    assert.ok(Math.max(...perTurn) <= 2, `yielder in a turn: ${Math.max(...perTurn)}`);
  });

  test("rotate between organizations: a single evaluation does not wait for all of another organization's", async () => {
    let slicesOfA = 0;
    const flood = Array.from({ length: 40 }, () => runWithCost(workOf("a"), () => evaluate(5, () => void slicesOfA++)));
    const before = slicesOfA;
    await runWithCost(workOf("b"), () => evaluate(5, () => {}));
    const during = slicesOfA - before;
    assert.ok(during <= 7, `${during} yielder of the other organization came in between`);
    await Promise.all(flood);
  });

  test("go to the evaluation of an organization that has waited longest", async () => {
    const order: string[] = [];
    await Promise.all(
      ["x", "y", "z"].map((name) => runWithCost(workOf("a"), () => evaluate(3, () => void order.push(name)))),
    );
    assert.equal(order.join(""), "xyzxyzxyz");
  });
});

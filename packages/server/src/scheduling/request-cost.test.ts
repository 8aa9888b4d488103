import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { measureStep, takeStepReport, threadCpuMs } from "./main-thread-time.ts";
import { currentRequestCost, runWithCost, RequestCost } from "./request-cost.ts";

function burn(cpuMs: number): void {
  const endMs = threadCpuMs() + cpuMs;
  while (threadCpuMs() < endMs);
}

describe("a request's cost", () => {
  test("includes everything that the request started", async () => {
    const cost = new RequestCost("op", "req_1");
    await runWithCost(cost, async () => {
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(currentRequestCost(), cost);
    });
    assert.equal(currentRequestCost(), undefined);
  });

  test("counts time in nested steps once", () => {
    const cost = new RequestCost("op");
    const beforeMs = threadCpuMs();
    takeStepReport(beforeMs);
    runWithCost(cost, () => measureStep("outer", () => (burn(10), measureStep("inner", () => burn(20)), burn(10))));
    const usedMs = threadCpuMs() - beforeMs;
    assert.ok(cost.mainThreadMs > 39 && cost.mainThreadMs <= usedMs, `${cost.mainThreadMs} of ${usedMs} ms`);
  });

  test("excludes time in which the thread only waits", () => {
    const cost = new RequestCost("op");
    const beforeMs = threadCpuMs();
    takeStepReport(beforeMs);
    const wait = (): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    runWithCost(cost, () => measureStep("waiting", wait));
    const usedMs = threadCpuMs() - beforeMs;
    assert.ok(cost.mainThreadMs <= usedMs + 1, `${cost.mainThreadMs} of ${usedMs} ms`);
  });

  test("is charged as it occurs, and the rest at the end", () => {
    const charged: number[] = [];
    const cost = new RequestCost("op");
    cost.chargeTo({ charge: (seconds) => charged.push(seconds) });
    cost.addStore(250);
    cost.addMainThread(0.4);
    cost.addMainThread(0.4);
    assert.deepEqual(charged, [0.25]);
    cost.end();
    cost.end();
    assert.equal(charged.length, 2);
    assert.equal(charged[1]!.toFixed(5), "0.00080");
  });
});

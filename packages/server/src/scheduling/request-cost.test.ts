import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { measured, takeSteps, threadCpuMs } from "./main-thread-time.ts";
import { currentRequestCost, runWithCost, RequestCost } from "./request-cost.ts";

function burn(cpuMs: number): void {
  const endMs = threadCpuMs() + cpuMs;
  while (threadCpuMs() < endMs);
}

describe("a request's work", () => {
  test("is found from everything that the request started", async () => {
    const work = new RequestCost("op", "req_1");
    await runWithCost(work, async () => {
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(currentRequestCost(), work);
    });
    assert.equal(currentRequestCost(), undefined);
  });

  test("counts each moment of its steps once, also where a step is part of another", () => {
    const work = new RequestCost("op");
    const beforeMs = threadCpuMs();
    takeSteps(beforeMs);
    runWithCost(work, () => measured("outer", () => (burn(10), measured("inner", () => burn(20)), burn(10))));
    const usedMs = threadCpuMs() - beforeMs;
    assert.ok(work.mainThreadMs > 39 && work.mainThreadMs <= usedMs, `${work.mainThreadMs} of ${usedMs} ms`);
  });

  test("does not count time in which the thread only waits", () => {
    const work = new RequestCost("op");
    const beforeMs = threadCpuMs();
    takeSteps(beforeMs);
    const wait = (): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    runWithCost(work, () => measured("waiting", wait));
    const usedMs = threadCpuMs() - beforeMs;
    assert.ok(work.mainThreadMs <= usedMs + 1, `${work.mainThreadMs} of ${usedMs} ms`);
  });

  test("is charged while it arises, and what is left of it at the end", () => {
    const charged: number[] = [];
    const work = new RequestCost("op");
    work.chargeTo({ charge: (seconds) => charged.push(seconds) });
    work.addStore(250);
    work.addMainThread(0.4);
    work.addMainThread(0.4);
    assert.deepEqual(charged, [0.25]);
    work.end();
    work.end();
    assert.equal(charged.length, 2);
    assert.equal(charged[1]!.toFixed(5), "0.00080");
  });
});

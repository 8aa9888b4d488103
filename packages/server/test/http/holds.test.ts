/** Holds of the event loop are logged with the operation that caused them, and their CPU time is counted. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { operation } from "../../src/api/operation.ts";
import { route, type Route } from "../../src/http/route.ts";
import type { LogFields } from "../../src/logger.ts";
import { silentLogger } from "../../src/logger.ts";
import { createMetrics } from "../../src/status/metrics.ts";
import { watchEventLoop, warnedHoldMs } from "../../src/scheduling/event-loop-watch.ts";
import { threadCpuMs } from "../../src/scheduling/main-thread-time.ts";
import { startTestHttp, testSecret } from "../support/test-http.ts";

function burningRoute(id: string, cpuMs: number): Route {
  const burning = operation({
    id,
    method: "GET",
    path: `/${id}`,
    tag: "test",
    summary: "Uses CPU time",
    permission: "any",
    answer: { type: "application/json", description: "Nothing." },
  });
  return route(burning, () => {
    const endMs = threadCpuMs() + cpuMs;
    while (threadCpuMs() < endMs);
    return { kind: "json", value: {} };
  });
}

/** A watch whose first warning about a request, and first delay of more than the bound, can be awaited. */
function startWatch() {
  const warned = Promise.withResolvers<LogFields>();
  const delayed = Promise.withResolvers<number>();
  let warnings = 0;
  const logger = {
    ...silentLogger,
    warn: (fields: LogFields) => {
      warnings += 1;
      // The start of the test itself may also block the loop.
      if (fields["operation"] !== undefined) warned.resolve(fields);
    },
  };
  const watch = watchEventLoop({
    logger,
    observe: (delayMs) => {
      if (delayMs > warnedHoldMs) delayed.resolve(delayMs);
    },
  });
  // The watch's own timer does not keep the process alive.
  const alive = setInterval(() => {}, 1000);
  return {
    warned: warned.promise,
    delayed: delayed.promise,
    warnings: () => warnings,
    [Symbol.dispose]: () => {
      watch.stop();
      clearInterval(alive);
    },
  };
}

describe("the event loop", () => {
  test("is reported late when a request blocks it, with the operation, the request and the organization", async () => {
    using watch = startWatch();
    await using server = await startTestHttp({ routes: [burningRoute("burn", 400), burningRoute("idle", 0)] });
    const get = (path: string) =>
      fetch(server.url + path, {
        headers: { authorization: `Bearer ${testSecret}`, "x-request-id": `req${path.replace("/", "-")}` },
      });
    await Promise.all([get("/idle"), get("/burn"), get("/idle")]);
    const { hold_ms: holdMs, step_ms: stepMs, ...culprit } = await watch.warned;
    assert.deepEqual(culprit, {
      operation: "burn",
      request_id: "req-burn",
      organization_id: "org_test",
      step: "serve",
    });
    assert.ok(Number(holdMs) >= 400 && Number(stepMs) >= 395, `${String(holdMs)} ms, ${String(stepMs)} ms`);
  });

  test("is late without a warning when the process only waited", async () => {
    using watch = startWatch();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
    assert.ok((await watch.delayed) > warnedHoldMs);
    assert.equal(watch.warnings(), 0);
  });
});

test("CPU time of the main thread is counted by operation, and is in the request's log line", async () => {
  const metrics = createMetrics("0");
  await using server = await startTestHttp({ routes: [burningRoute("burn", 60), burningRoute("idle", 0)] });
  const headers = { authorization: `Bearer ${testSecret}` };
  for (const path of ["/burn", "/burn", "/idle"]) await (await fetch(server.url + path, { headers })).text();
  await server.untilFinished(3);
  for (const exchange of server.finished) metrics.observeRequest(exchange);
  metrics.observeLoopDelay(70);
  const { text } = await metrics.scrape();
  const cpu = (id: string) =>
    Number(new RegExp(`^sounding_request_cpu_seconds_total\\{operation="${id}"\\} (.*)$`, "m").exec(text)?.[1]);
  assert.ok(cpu("burn") >= 0.119, `${cpu("burn")} s`);
  assert.ok(cpu("idle") > 0 && cpu("idle") < 0.119, `${cpu("idle")} s`);
  assert.match(text, /^sounding_event_loop_delay_seconds_bucket\{le="0.1"\} 1$/m);
  const lines = server.logged.filter(({ operation: id }) => id === "burn");
  assert.ok(lines.length === 2 && lines.every((line) => Number(line["cpu_ms"]) >= 59));
});

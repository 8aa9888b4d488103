/** What an operator sees of targets: recent calls, errors, latency and pauses. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AppError } from "../../src/errors.ts";
import { routingFixture, streamedText, type Fixture } from "./routing-fixture.ts";
import { answer, chatCall, fail, failed, hang, rateLimited } from "./scripted-engine.ts";

const one = {
  engines: ["a"],
  models: { m: { targets: [{ engine: "a", max_concurrent: 9 }], retries: { attempts: 0 } } },
};

function targetOf(routing: Fixture) {
  return routing.registry.routedModel("m").targets[0]!;
}

describe("recent calls of a target", () => {
  test("are counted by outcome, without those that the caller cancelled", async () => {
    await using routing = await routingFixture(one);
    const invalid = new AppError("invalid_request", "A secret of the caller.");
    routing.engine("a").steps = [answer("x"), fail(invalid), fail(rateLimited(5_000)), fail(failed()), answer("y")];
    for (let call = 0; call < 5; call++)
      await routing
        .chat("m")
        .complete(chatCall())
        .catch(() => undefined);
    const abort = new AbortController();
    routing.engine("a").always = hang();
    const cancelled = routing.chat("m").complete(chatCall(abort.signal));
    assert.equal(targetOf(routing).inFlight, 1);
    abort.abort();
    await assert.rejects(cancelled);
    const { recent, lastError, inFlight, maxConcurrent, coolingMs } = targetOf(routing);
    assert.deepEqual([recent.calls, inFlight, maxConcurrent, coolingMs], [5, 0, 9, 5_000]);
    const counts = Object.fromEntries(recent.errors.map(({ code, count }) => [code, count]));
    assert.deepEqual(counts, { invalid_request: 1, rate_limited: 1, upstream_failed: 1 });
    assert.equal(lastError?.error.message, "The engine failed.");
  });

  test("count a stream that fails in the middle once, as answered and as failed", async () => {
    await using routing = await routingFixture(one);
    routing.engine("a").steps = [fail(failed(), "a bit")];
    await assert.rejects(streamedText(routing.chat("m")));
    const { calls, errors, latencyMs } = targetOf(routing).recent;
    assert.deepEqual([calls, errors, latencyMs === undefined], [1, [{ code: "upstream_failed", count: 1 }], false]);
  });

  test("never quote what is wrong with a caller's request", async () => {
    await using routing = await routingFixture(one);
    routing.engine("a").steps = [fail(new AppError("invalid_request", "A secret of the caller."))];
    await assert.rejects(routing.chat("m").complete(chatCall()));
    assert.equal(targetOf(routing).lastError, undefined);
  });

  test("have the percentiles of the latency, and leave the window after 15 minutes", async () => {
    await using routing = await routingFixture(one);
    const { promise, resolve } = Promise.withResolvers<void>();
    routing.engine("a").always = { kind: "wait", until: promise };
    const slow = Array.from({ length: 6 }, () => routing.chat("m").complete(chatCall()));
    routing.clock.nowMs += 400;
    resolve();
    await Promise.all(slow);
    routing.engine("a").always = answer("quick");
    for (let call = 0; call < 4; call++) await routing.chat("m").complete(chatCall());
    const { calls, latencyMs } = targetOf(routing).recent;
    assert.equal(calls, 10);
    assert.ok(Math.abs(latencyMs!.p50 - 400) <= 20 && Math.abs(latencyMs!.p95 - 400) <= 20, JSON.stringify(latencyMs));
    routing.clock.nowMs += 14 * 60_000;
    assert.equal(targetOf(routing).recent.calls, 10);
    routing.clock.nowMs += 60_000;
    const after = targetOf(routing).recent;
    assert.deepEqual([after.calls, after.latencyMs], [0, undefined]);
  });
});

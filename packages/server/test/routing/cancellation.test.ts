/** Calls that are cancelled in every state; none leaks anything. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { AppError } from "../../src/errors.ts";
import { sleep } from "../../src/abort.ts";
import { routingFixture, streamedText } from "./routing-fixture.ts";
import { answer, chatCall, fail, failed, hang, rateLimited, type Step } from "./scripted-engine.ts";
import { propertyRuns } from "../../../../test/support/property-runs.ts";

const one = { engines: ["a"], models: { m: { targets: [{ engine: "a" }] } } };

describe("a cancelled call", () => {
  test("ends immediately if nothing has begun, and reaches no engine", async () => {
    await using routing = await routingFixture(one);
    const cancelled = chatCall(AbortSignal.abort());
    await assert.rejects(routing.chat("m").complete(cancelled), { code: "client_closed" });
    await assert.rejects(streamedText(routing.chat("m"), cancelled), { code: "client_closed" });
    assert.equal(routing.engine("a").calls.length, 0);
  });

  test("ends the running attempt, which is reported as cancelled and not retried", async () => {
    await using routing = await routingFixture(one);
    routing.engine("a").always = hang();
    const abort = new AbortController();
    const call = chatCall(abort.signal);
    const running = routing.chat("m").complete(call);
    abort.abort();
    await assert.rejects(running, { code: "client_closed" });
    assert.equal(routing.engine("a").running, 0);
    assert.deepEqual(
      call.attempts.map(({ outcome }) => outcome),
      ["client_closed"],
    );
  });

  test("ends with the error that the signal carries", async () => {
    await using routing = await routingFixture(one);
    routing.engine("a").always = hang();
    const abort = new AbortController();
    const running = routing.chat("m").complete(chatCall(abort.signal));
    abort.abort(new AppError("timeout", "The request's timeout of 2 s elapsed."));
    await assert.rejects(running, { code: "timeout" });
  });

  test("ends a pause between two attempts", async () => {
    const abort = new AbortController();
    await using routing = await routingFixture(
      {
        engines: ["a"],
        models: { m: { targets: [{ engine: "a" }], retries: { backoff_ms: 86_400_000, max_backoff_ms: 86_400_000 } } },
      },
      {
        sleep: (durationMs, signal) => {
          setImmediate(() => abort.abort());
          return sleep(durationMs, signal);
        },
      },
    );
    routing.engine("a").always = fail(failed());
    await assert.rejects(routing.chat("m").complete(chatCall(abort.signal)), { code: "client_closed" });
    assert.equal(routing.engine("a").calls.length, 1);
  });

  test("ends a stream that has begun", async () => {
    await using routing = await routingFixture(one);
    routing.engine("a").always = hang("first");
    const abort = new AbortController();
    await assert.rejects(
      async () => {
        for await (const chunk of routing.chat("m").stream(chatCall(abort.signal))) {
          assert.equal(chunk.choices[0]?.delta.content, "first");
          abort.abort();
        }
      },
      { code: "client_closed" },
    );
    assert.equal(routing.engine("a").running, 0);
  });

  test("ends a stream whose loop is left", async () => {
    await using routing = await routingFixture(one);
    routing.engine("a").always = answer("first", "second");
    for await (const chunk of routing.chat("m").stream(chatCall())) {
      assert.equal(chunk.choices[0]?.delta.content, "first");
      break;
    }
    assert.deepEqual([routing.engine("a").running, routing.engine("a").cancelled], [0, 1]);
  });
});

test("no slot stays occupied and no engine stays busy, whatever calls do", async () => {
  const error = fc.constantFrom(
    failed(),
    rateLimited(),
    rateLimited(1),
    rateLimited(100_000),
    new AppError("invalid_request", "no"),
    new AppError("unsupported_parameter", "no"),
    new AppError("model_not_found", "no"),
    new TypeError("a fault"),
  );
  const texts = fc.array(fc.constantFrom("x", "y"), { maxLength: 3 });
  const step: fc.Arbitrary<Step> = fc.oneof(
    texts.map((chunks) => answer(...chunks)),
    fc.tuple(error, texts).map(([thrown, chunks]) => fail(thrown, ...chunks)),
    texts.map((chunks) => hang(...chunks)),
    fc.constant<Step>({ kind: "empty" }),
  );
  const callPlan = fc.record({
    stream: fc.boolean(),
    abortAfterTicks: fc.integer({ min: 0, max: 30 }),
    leaveAfterChunks: fc.option(fc.integer({ min: 1, max: 3 }), { nil: Infinity }),
  });
  const plan = fc.record({ steps: fc.array(step, { maxLength: 20 }), calls: fc.array(callPlan, { maxLength: 8 }) });
  await fc.assert(
    fc.asyncProperty(plan, async ({ steps, calls }) => {
      const targets = [
        { engine: "a", max_concurrent: 2 },
        { engine: "b", max_concurrent: 1 },
      ];
      await using routing = await routingFixture({
        engines: ["a", "b", "c"],
        models: { m: { targets, fallbacks: ["n"] }, n: { targets: [{ engine: "c" }] } },
        routing: { failure_threshold: 2 },
      });
      for (const [index, each] of steps.entries()) routing.engines[index % 3]!.steps.push(each);
      await Promise.all(
        calls.map(async ({ stream, abortAfterTicks, leaveAfterChunks }) => {
          const abort = new AbortController();
          const call = chatCall(abort.signal);
          void (async () => {
            for (let tick = 0; tick < abortAfterTicks; tick++) await Promise.resolve();
            abort.abort();
          })();
          try {
            if (!stream) return await routing.chat("m").complete(call);
            let chunks = 0;
            for await (const _chunk of routing.chat("m").stream(call)) if (++chunks >= leaveAfterChunks) break;
          } catch (thrown) {
            assert.ok(thrown instanceof AppError, String(thrown));
          }
          return undefined;
        }),
      );
      for (const engine of routing.engines) {
        assert.equal(engine.running, 0);
        engine.steps = [];
      }
      // Every slot is free and no circuit stays open: after the pause all three slots can be used.
      routing.clock.nowMs += 100_000;
      for (const engine of routing.engines) engine.always = answer("well");
      for (let call = 0; call < 20; call++) {
        assert.equal(await streamedText(routing.chat("m")), "well");
        routing.clock.nowMs += 100_000;
      }
      for (const engine of routing.engines) engine.always = hang("busy");
      const streams = Array.from({ length: 3 }, () => routing.chat("m").stream(chatCall())[Symbol.asyncIterator]());
      for (const stream of streams) assert.equal((await stream.next()).value?.model, "m");
      for (const stream of streams) await stream.return?.();
    }),
    { numRuns: propertyRuns(300) },
  );
});

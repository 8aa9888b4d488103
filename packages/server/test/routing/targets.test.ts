/** Which target a call goes to: weights, concurrency limits, outages. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AppError } from "../../src/errors.ts";
import type { SpeechCall } from "../../src/engines/engine.ts";
import { everyone, routingFixture, streamedText, type Fixture } from "./routing-fixture.ts";
import { answer, chatCall, fail, failed, hang, rateLimited } from "./scripted-engine.ts";

const two = { engines: ["a", "b"], models: { m: { targets: [{ engine: "a" }, { engine: "b" }] } } };

async function callTimes(routing: Fixture, times: number): Promise<void> {
  for (let call = 0; call < times; call++) await routing.chat("m").complete(chatCall());
}

function callsOf(routing: Fixture): Record<string, number> {
  return Object.fromEntries(routing.engines.map(({ name, calls }) => [name, calls.length]));
}

describe("weights", () => {
  test("determine the shares of the calls", async () => {
    await using routing = await routingFixture(
      {
        engines: ["a", "b", "c", "off"],
        models: {
          m: {
            targets: [
              { engine: "a", weight: 6 },
              { engine: "b", weight: 3 },
              { engine: "c", weight: 1 },
              { engine: "off", weight: 0 },
            ],
          },
        },
      },
      { seed: 42 },
    );
    await callTimes(routing, 10_000);
    const { a = 0, b = 0, c = 0, off } = callsOf(routing);
    // Four standard deviations of a binomial distribution with these shares.
    assert.ok(Math.abs(a - 6_000) < 200, `a had ${a}`);
    assert.ok(Math.abs(b - 3_000) < 190, `b had ${b}`);
    assert.ok(Math.abs(c - 1_000) < 120, `c had ${c}`);
    assert.equal(off, 0);
  });

  test("yield to load: a slow target gets fewer calls", async () => {
    await using routing = await routingFixture(two);
    routing.engine("a").always = hang("first");
    const abort = new AbortController();
    const iterators = [];
    for (let call = 0; call < 100; call++) {
      const iterator = routing.chat("m").stream(chatCall(abort.signal))[Symbol.asyncIterator]();
      iterators.push(iterator);
      const text = (await iterator.next()).value?.choices[0]?.delta.content;
      if (text === "hello") await iterator.next();
    }
    // The busy target gets the call only when chance selects it twice, a quarter of the time.
    const { a = 0, b = 0 } = callsOf(routing);
    assert.ok(a >= 12 && a <= 38, `a had ${a}, b had ${b}`);
    abort.abort();
    for (const iterator of iterators) await iterator.return?.();
  });

  test("of a target that recovers are restored gradually", async () => {
    await using routing = await routingFixture({
      ...two,
      routing: { failure_threshold: 1, window_ms: 1_000, open_ms: 10_000 },
    });
    routing.engine("a").steps = [fail(failed())];
    while (callsOf(routing)["a"] === 0) await callTimes(routing, 1);
    routing.clock.nowMs += 10_001;
    // The open target may be probed again: the next call that chance sends there is the probe.
    while (callsOf(routing)["a"] === 1) await callTimes(routing, 1);
    const early = callsOf(routing)["a"]!;
    await callTimes(routing, 1_000);
    const soon = callsOf(routing)["a"]! - early;
    assert.ok(soon > 40 && soon < 160, `${soon} of 1000 calls right after the outage`);
    routing.clock.nowMs += 10_000;
    await callTimes(routing, 1_000);
    const later = callsOf(routing)["a"]! - early - soon;
    assert.ok(later > 430 && later < 570, `${later} of 1000 calls when it was over`);
  });
});

describe("concurrency limits", () => {
  const limited = {
    engines: ["a", "b"],
    models: {
      m: {
        targets: [
          { engine: "a", max_concurrent: 2 },
          { engine: "b", max_concurrent: 1 },
        ],
      },
    },
  };

  test("send calls to the next target when one is full; then the model is overloaded", async () => {
    await using routing = await routingFixture(limited);
    for (const engine of routing.engines) engine.always = hang("first");
    const abort = new AbortController();
    const open = [];
    for (let call = 0; call < 3; call++) {
      const stream = routing.chat("m").stream(chatCall(abort.signal))[Symbol.asyncIterator]();
      await stream.next();
      open.push(stream);
    }
    assert.deepEqual(callsOf(routing), { a: 2, b: 1 });
    const refused = { code: "overloaded", retryAfterMs: 1_000 };
    await assert.rejects(routing.chat("m").complete(chatCall()), refused);
    await assert.rejects(streamedText(routing.chat("m")), refused);
    await open[0]!.return?.();
    for (const engine of routing.engines) engine.always = answer("fine");
    assert.equal(await streamedText(routing.chat("m")), "fine");
    abort.abort();
    for (const stream of open) await stream.return?.();
  });

  test("are counted over all routes to the same model of an engine", async () => {
    const target = { engine: "a", model: "same", max_concurrent: 1 };
    await using routing = await routingFixture({
      engines: ["a"],
      models: { m: { targets: [target] }, other: { targets: [target] } },
    });
    routing.engine("a").always = hang("first");
    const stream = routing.chat("m").stream(chatCall())[Symbol.asyncIterator]();
    await stream.next();
    await assert.rejects(routing.chat("other").complete(chatCall()), { code: "overloaded" });
    await stream.return?.();
  });

  test("that are all reached lead to the fallbacks", async () => {
    await using routing = await routingFixture({
      engines: ["a", "b"],
      models: {
        m: { targets: [{ engine: "a", max_concurrent: 1 }], fallbacks: ["n"] },
        n: { targets: [{ engine: "b" }] },
      },
    });
    routing.engine("a").always = hang("first");
    const stream = routing.chat("m").stream(chatCall())[Symbol.asyncIterator]();
    await stream.next();
    assert.equal((await routing.chat("m").complete(chatCall())).model, "n");
    await stream.return?.();
  });
});

describe("outages", () => {
  const breaking = {
    engines: ["a"],
    models: { m: { targets: [{ engine: "a" }], retries: { attempts: 0 } } },
    routing: { failure_threshold: 3, window_ms: 30_000, open_ms: 15_000 },
  };

  async function failTimes(routing: Fixture, error: AppError, times: number): Promise<void> {
    routing.engine("a").always = fail(error);
    for (let call = 0; call < times; call++) await assert.rejects(routing.chat("m").complete(chatCall()));
  }

  test("fail calls immediately, until a probe finds the target healthy", async () => {
    await using routing = await routingFixture(breaking);
    await failTimes(routing, failed(), 3);
    routing.clock.nowMs += 5_000;
    await assert.rejects(routing.chat("m").complete(chatCall()), { code: "overloaded", retryAfterMs: 10_000 });
    assert.equal(routing.engine("a").calls.length, 3);
    routing.clock.nowMs += 10_000;
    routing.engine("a").always = answer("fine");
    await callTimes(routing, 5);
    assert.equal(routing.engine("a").calls.length, 8);
  });

  test("are probed by one call at a time", async () => {
    await using routing = await routingFixture(breaking);
    await failTimes(routing, failed(), 3);
    routing.clock.nowMs += 15_000;
    let heal = (): void => {};
    routing.engine("a").always = { kind: "wait", until: new Promise<void>((resolve) => (heal = resolve)) };
    const probe = routing.chat("m").complete(chatCall());
    await assert.rejects(routing.chat("m").complete(chatCall()), { code: "overloaded" });
    heal();
    await probe;
    await callTimes(routing, 2);
  });

  test("do not end when the probe's client disconnects, nor does that lock the target out", async () => {
    await using routing = await routingFixture(breaking);
    await failTimes(routing, failed(), 3);
    routing.clock.nowMs += 15_000;
    routing.engine("a").always = hang();
    const abort = new AbortController();
    const probe = routing.chat("m").complete(chatCall(abort.signal));
    abort.abort();
    await assert.rejects(probe, { code: "client_closed" });
    routing.engine("a").always = answer("fine");
    await callTimes(routing, 2);
  });

  for (const error of [
    new AppError("invalid_request", "no"),
    new AppError("unsupported_parameter", "no"),
    new AppError("context_length_exceeded", "no"),
    rateLimited(),
  ]) {
    test(`are not caused by ${error.code}`, async () => {
      await using routing = await routingFixture(breaking);
      await failTimes(routing, error, 20);
      assert.equal(routing.engine("a").calls.length, 20);
    });
  }

  test("are not caused by clients that disconnect", async () => {
    await using routing = await routingFixture(breaking);
    routing.engine("a").always = hang();
    for (let call = 0; call < 10; call++) {
      const abort = new AbortController();
      const running = routing.chat("m").complete(chatCall(abort.signal));
      abort.abort();
      await assert.rejects(running, { code: "client_closed" });
    }
    assert.equal(routing.engine("a").calls.length, 10);
  });

  test("are not caused by an engine that has as many calls as it takes", async () => {
    await using routing = await routingFixture(breaking);
    const full = new AppError("overloaded", "16 calls are running or waiting.", { retryAfterMs: 1_000, full: true });
    await failTimes(routing, full, 20);
    assert.equal(routing.engine("a").calls.length, 20);
    routing.engine("a").always = answer("fine");
    await callTimes(routing, 1);
  });

  test("are caused by broken streams, too", async () => {
    await using routing = await routingFixture(breaking);
    routing.engine("a").always = fail(failed(), "first");
    for (let call = 0; call < 3; call++) {
      await assert.rejects(streamedText(routing.chat("m")), { code: "upstream_failed" });
    }
    await assert.rejects(streamedText(routing.chat("m")), { code: "overloaded" });
  });
});

describe("an outage of one thing leaves others in service:", () => {
  const routing = { failure_threshold: 3, window_ms: 30_000, open_ms: 15_000 };

  test("models that are not listed each have their own", async () => {
    await using fixture = await routingFixture({ engines: ["a"], routing });
    const engine = fixture.engine("a");
    engine.always = fail(failed());
    for (let call = 0; call < 3; call += 1) await assert.rejects(fixture.chat("a/broken").complete(chatCall()));
    await assert.rejects(fixture.chat("a/broken").complete(chatCall()), { code: "overloaded" });
    engine.always = answer("fine");
    await fixture.chat("a/other").complete(chatCall());
    await assert.rejects(fixture.chat("a/broken").complete(chatCall()), { code: "overloaded" });
    // Names that callers make up are forgotten, the oldest first.
    for (let name = 0; name < 1_000; name += 1) await fixture.chat(`a/made-up-${name}`).complete(chatCall());
    await fixture.chat("a/broken").complete(chatCall());
  });

  test("a model that cannot speak still chats", async () => {
    const speech = { givesMarks: false, voices: async () => undefined, speak: failingSpeech };
    await using fixture = await routingFixture(
      { engines: ["a"], models: { m: { targets: [{ engine: "a" }], retries: { attempts: 0 } } }, routing },
      { prepare: (engine) => Object.assign(engine, { speech: () => speech }) },
    );
    const call = { text: "Hi.", voice: "x", speed: 1, marks: false, signal: new AbortController().signal };
    const speak = () => Array.fromAsync(fixture.registry.speech("m", everyone).speak(call as unknown as SpeechCall));
    for (let each = 0; each < 3; each += 1) await assert.rejects(speak(), { code: "upstream_failed" });
    await assert.rejects(speak(), { code: "overloaded" });
    await fixture.chat("m").complete(chatCall());
    assert.equal(fixture.registry.routedModel("m").targets[0]!.circuit, "open");
  });
});

async function* failingSpeech(): AsyncGenerator<never> {
  yield await Promise.reject(failed());
}

test("a target's own time limits reach its engine", async () => {
  const timeouts = { first_byte_timeout_ms: 5, total_timeout_ms: 50 };
  await using routing = await routingFixture({
    engines: ["a"],
    models: { m: { targets: [{ engine: "a", model: "quick", timeouts }, { engine: "a" }] } },
  });
  assert.deepEqual(routing.engine("a").timeouts.get("quick"), timeouts);
  assert.equal(routing.engine("a").timeouts.get("m-upstream"), undefined);
});

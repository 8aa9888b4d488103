/** How many concurrent calls an engine gets, which calls wait, and how it shuts down. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startScriptedUpstream, type ScriptedExchange } from "../support/scripted-upstream.ts";
import { chatModel, completion, openEngine, toCall } from "./engine-call.ts";

/** Answers on request. */
function holdAnswers() {
  const held: ScriptedExchange[] = [];
  return {
    held,
    script: async (exchange: ScriptedExchange): Promise<void> => {
      held.push(exchange);
      await exchange.closed;
    },
    release: (): void => held.shift()?.answer(completion),
  };
}

describe("an engine with one connection and one queue slot", () => {
  const limits = { max_connections: 1, max_queued: 1 };

  test("queues the second call and refuses the third", async () => {
    const { held, script, release } = holdAnswers();
    await using upstream = await startScriptedUpstream(script);
    const engine = openEngine(upstream.url, limits);
    const model = chatModel(engine);
    const first = model.complete(toCall());
    const second = model.complete(toCall());
    await assert.rejects(model.complete(toCall()), { code: "overloaded", retryAfterMs: 1_000 });
    await upstream.until(() => held.length === 1, "the first call has arrived");
    release();
    await first;
    await upstream.until(() => held.length === 1, "the second call has arrived");
    release();
    await second;
    await engine.close();
    assert.equal(upstream.exchanges.length, 2);
  });

  test("removes a call that is cancelled while it waits, and gives its slot to another", async () => {
    const { held, script, release } = holdAnswers();
    await using upstream = await startScriptedUpstream(script);
    const engine = openEngine(upstream.url, limits);
    const model = chatModel(engine);
    const first = model.complete(toCall());
    const controller = new AbortController();
    const second = model.complete(toCall({}, { signal: controller.signal }));
    controller.abort();
    await assert.rejects(second, { code: "client_closed" });
    const third = model.complete(toCall());
    for (const answer of [first, third]) {
      await upstream.until(() => held.length === 1, "a call has arrived");
      release();
      await answer;
    }
    await engine.close();
    assert.equal(upstream.exchanges.length, 2);
  });

  test("limits the time that a call waits", async () => {
    const { held, script, release } = holdAnswers();
    await using upstream = await startScriptedUpstream(script);
    const engine = openEngine(upstream.url, { ...limits, queue_timeout_ms: 200 });
    const model = chatModel(engine);
    const first = model.complete(toCall());
    await assert.rejects(model.complete(toCall()), { code: "overloaded" });
    await upstream.until(() => held.length === 1, "the first call has arrived");
    release();
    await first;
    await engine.close();
  });

  test("continues after an interrupted call", async () => {
    await using upstream = await startScriptedUpstream((exchange) => {
      if (exchange.index < 3) exchange.cut();
      else exchange.answer(completion);
    });
    const engine = openEngine(upstream.url, limits);
    const model = chatModel(engine);
    for (let turn = 0; turn < 3; turn++) await assert.rejects(model.complete(toCall()), { code: "upstream_failed" });
    assert.equal((await model.complete(toCall())).id, completion.id);
    await engine.close();
  });

  test("refuses waiting calls when it is closed, and lets running ones finish", async () => {
    const { held, script, release } = holdAnswers();
    await using upstream = await startScriptedUpstream(script);
    const engine = openEngine(upstream.url, limits);
    const model = chatModel(engine);
    const first = model.complete(toCall());
    const second = model.complete(toCall());
    await upstream.until(() => held.length === 1, "the first call has arrived");
    const closed = engine.close();
    await assert.rejects(second, { code: "overloaded", message: /closed/ });
    await assert.rejects(model.complete(toCall()), { code: "overloaded", message: /closed/ });
    release();
    assert.equal((await first).id, completion.id);
    await closed;
    await engine.close();
    await upstream.until(() => upstream.openSockets === 0, "every connection is closed");
  });
});

test("a target's own time limits override the engine's", async () => {
  await using upstream = await startScriptedUpstream((exchange) => exchange.stall());
  const engine = openEngine(upstream.url, { total_timeout_ms: 60_000 });
  const model = engine.chat("m", { total_timeout_ms: 200, connect_timeout_ms: 60_000 });
  await assert.rejects(model.complete(toCall()), { code: "upstream_timeout", message: /200 ms/ });
  await engine.close();
});

describe("the models of an engine", () => {
  const { signal } = new AbortController();
  const lists: [name: string, body: unknown, expected: unknown][] = [
    [
      "OpenAI's",
      { object: "list", data: [{ id: "a", object: "model", created: 5, owned_by: "vllm" }] },
      [{ id: "a", created: 5, ownedBy: "vllm" }],
    ],
    ["names alone", { models: [{ name: "b" }] }, [{ id: "b", created: 0, ownedBy: "engine" }]],
    [
      "a bare list with rubbish",
      [{ id: "c" }, 5, null, {}, { id: "c" }, { id: 7 }],
      [{ id: "c", created: 0, ownedBy: "engine" }],
    ],
  ];
  for (const [name, body, expected] of lists) {
    test(`are listed: ${name}`, async () => {
      await using upstream = await startScriptedUpstream((exchange) => exchange.answer(body));
      const engine = openEngine(upstream.url);
      assert.deepEqual(await engine.listModels(signal), expected);
      assert.equal(upstream.exchanges[0]?.path, "/v1/models");
      assert.equal(upstream.exchanges[0]?.method, "GET");
      assert.equal(upstream.exchanges[0]?.headers.authorization, "Bearer upstream-secret");
      await engine.close();
    });
  }

  test("are those of the settings, if given", async () => {
    const engine = openEngine("http://127.0.0.1:1", { models: ["x"] });
    assert.deepEqual(await engine.listModels(signal), [{ id: "x", created: 0, ownedBy: "engine" }]);
    await engine.close();
  });

  test("cannot be listed by an engine that answers nonsense, fails or does not answer", async () => {
    await using upstream = await startScriptedUpstream(async (exchange) => {
      if (exchange.index === 0) exchange.answer({ data: 5 });
      else if (exchange.index === 1) exchange.answer("", 500);
      else await exchange.stall();
    });
    const engine = openEngine(upstream.url);
    await assert.rejects(engine.listModels(signal), { code: "upstream_failed" });
    await assert.rejects(engine.listModels(signal), { code: "upstream_failed" });
    const controller = new AbortController();
    const listing = engine.listModels(controller.signal);
    await upstream.until(() => upstream.exchanges.length === 3, "the request has arrived");
    controller.abort();
    await assert.rejects(listing, { code: "client_closed" });
    await engine.close();
  });
});

/** A stream's back-pressure, and its end: by the engine, the consumer, or the caller's signal. */
import assert from "node:assert/strict";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { getEventListeners } from "node:events";
import { describe, test } from "node:test";
import { AppError } from "../../src/errors.ts";
import { startScriptedUpstream, toEvent, type Script } from "../support/scripted-upstream.ts";
import { chatModel, chunk, collect, completion, contentOf, openEngine, toCall } from "./engine-call.ts";

const streamCall = (signal?: AbortSignal) => toCall({ stream: true }, signal === undefined ? {} : { signal });

const endless: Script = async (exchange) => {
  exchange.beginEvents();
  await exchange.flood(toEvent(chunk({ content: "x".repeat(1_000) })));
};

const oneThenNothing: Script = async (exchange) => {
  exchange.beginEvents();
  await exchange.sendEvents(chunk({ content: "a" }));
  await exchange.stall();
};

describe("a consumer that does not read", () => {
  test("pauses the engine, and later continues where it stopped", async () => {
    const total = 30_000;
    let sent = 0;
    await using upstream = await startScriptedUpstream(async (exchange) => {
      exchange.beginEvents();
      for (; sent < total && !exchange.gone; sent++) {
        await exchange.send(toEvent(chunk({ content: `${String(sent).padStart(5, "0")}${"x".repeat(1_000)}` })));
      }
      await exchange.sendEvents(chunk({}, "stop"), "[DONE]");
      exchange.end();
    });
    // A limit on silence must not apply while the consumer is the silent side.
    const engine = openEngine(upstream.url, { idle_timeout_ms: 2_000 });
    const iterator = chatModel(engine).stream(streamCall())[Symbol.asyncIterator]();
    await iterator.next();
    let seen = -1;
    await upstream.until(() => {
      const isStill = sent === seen;
      seen = sent;
      return isStill && sent > 100;
    }, "the engine is held up");
    await new Promise((resolve) => {
      setTimeout(resolve, 2_500);
    });
    // The data in flight fits into the buffers of two sockets, and is far from everything.
    assert.ok(sent < total / 2, `${sent} events were taken`);
    let count = 1;
    for (let result = await iterator.next(); result.done !== true; result = await iterator.next()) {
      const [choice] = result.value.choices;
      if (choice?.finish_reason === null)
        assert.equal(choice.delta.content?.slice(0, 5), String(count++).padStart(5, "0"));
    }
    assert.equal(count, total);
    await engine.close();
  });

  test("if never consumed, causes no request", async () => {
    await using upstream = await startScriptedUpstream(endless);
    const engine = openEngine(upstream.url);
    chatModel(engine).stream(streamCall());
    await engine.close();
    assert.equal(upstream.exchanges.length, 0);
  });
});

describe("the engine is cancelled", () => {
  test("when the consumer leaves the loop", async () => {
    await using upstream = await startScriptedUpstream(endless);
    const engine = openEngine(upstream.url);
    for await (const { choices } of chatModel(engine).stream(streamCall())) {
      assert.equal(choices.length, 1);
      break;
    }
    await upstream.until(() => upstream.aborts === 1 && upstream.openSockets === 0, "the engine was cancelled");
    await engine.close();
  });

  test("when the consumer leaves before the first chunk", async () => {
    await using upstream = await startScriptedUpstream((exchange) => exchange.stall());
    const engine = openEngine(upstream.url);
    const iterator = chatModel(engine).stream(streamCall())[Symbol.asyncIterator]();
    const next = iterator.next();
    await upstream.until(() => upstream.exchanges.length === 1, "the request has arrived");
    await iterator.return?.();
    assert.deepEqual(await next, { done: true, value: undefined });
    assert.deepEqual(await iterator.next(), { done: true, value: undefined });
    await upstream.until(() => upstream.openSockets === 0, "the engine was cancelled");
    await engine.close();
  });

  for (const script of [oneThenNothing, endless]) {
    test(`when the signal aborts in the middle of a stream that ${script === endless ? "floods" : "stalls"}`, async () => {
      await using upstream = await startScriptedUpstream(script);
      const engine = openEngine(upstream.url);
      const controller = new AbortController();
      const iterator = chatModel(engine).stream(streamCall(controller.signal))[Symbol.asyncIterator]();
      await iterator.next();
      controller.abort();
      const { error } = await collect({ [Symbol.asyncIterator]: () => iterator });
      assert.equal(error?.code, "client_closed");
      await upstream.until(() => upstream.aborts === 1 && upstream.openSockets === 0, "the engine was cancelled");
      await engine.close();
    });
  }

  test("in a hundred streams at once, without leaking sockets or timers", async () => {
    const resources = () => process.getActiveResourcesInfo().filter((name) => /TCPSocket|Timeout/.test(name)).length;
    const before = resources();
    await using upstream = await startScriptedUpstream(oneThenNothing);
    const engine = openEngine(upstream.url);
    const controller = new AbortController();
    const streams = Array.from({ length: 100 }, () => chatModel(engine).stream(streamCall(controller.signal)));
    const ends = streams.map((stream) => collect(stream));
    await upstream.until(() => upstream.exchanges.length === 100, "all requests have arrived");
    controller.abort();
    for (const { error } of await Promise.all(ends)) assert.equal(error?.code, "client_closed");
    await upstream.until(() => upstream.openSockets === 0, "the engine was cancelled");
    assert.deepEqual(getEventListeners(controller.signal, "abort"), []);
    await engine.close();
    await upstream.close();
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    assert.equal(resources(), before);
  });

  test("when the signal aborts before a batch answer, with the signal's own reason", async () => {
    await using upstream = await startScriptedUpstream((exchange) => exchange.stall());
    const engine = openEngine(upstream.url);
    const controller = new AbortController();
    const answer = chatModel(engine).complete(toCall({}, { signal: controller.signal }));
    await upstream.until(() => upstream.exchanges.length === 1, "the request has arrived");
    const reason = new AppError("timeout", "The request's time is up.");
    controller.abort(reason);
    await assert.rejects(answer, (error) => error === reason);
    await upstream.until(() => upstream.openSockets === 0, "the engine was cancelled");
    await engine.close();
  });

  test("before the request when the signal has already aborted", async () => {
    await using upstream = await startScriptedUpstream(endless);
    const engine = openEngine(upstream.url);
    const signal = AbortSignal.abort();
    await assert.rejects(chatModel(engine).complete(toCall({}, { signal })), { code: "client_closed" });
    const { error } = await collect(chatModel(engine).stream(streamCall(signal)));
    assert.equal(error?.code, "client_closed");
    await engine.close();
    assert.equal(upstream.exchanges.length, 0);
  });
});

describe("a complete stream", () => {
  test("may end without [DONE] when every choice has its reason", async () => {
    await using upstream = await startScriptedUpstream(async (exchange) => {
      exchange.beginEvents();
      await exchange.sendEvents(chunk({ content: "Hi" }), chunk({}, "stop"));
      exchange.end();
    });
    const engine = openEngine(upstream.url);
    const { chunks, error } = await collect(chatModel(engine).stream(streamCall()));
    assert.equal(error, undefined);
    assert.equal(contentOf(chunks), "Hi");
    await engine.close();
  });

  test("gets the reason that the engine omitted before [DONE]", async () => {
    await using upstream = await startScriptedUpstream(async (exchange) => {
      exchange.beginEvents();
      await exchange.sendEvents(chunk({ content: "Hi" }), "[DONE]");
      exchange.end();
    });
    const engine = openEngine(upstream.url);
    const { chunks } = await collect(chatModel(engine).stream(streamCall()));
    assert.equal(chunks.at(-1)?.choices[0]?.finish_reason, "stop");
    await engine.close();
  });

  test("ends at [DONE], and an engine that continues is disconnected", async () => {
    await using upstream = await startScriptedUpstream(async (exchange) => {
      exchange.beginEvents();
      await exchange.sendEvents(chunk({ content: "Hi" }, "stop"), "[DONE]");
      await exchange.stall();
    });
    const engine = openEngine(upstream.url);
    const { chunks, error } = await collect(chatModel(engine).stream(streamCall()));
    assert.equal(error, undefined);
    assert.equal(chunks.length, 2);
    await upstream.until(() => upstream.openSockets === 0, "the connection is closed");
    await engine.close();
  });

  test("ends soon after every choice has its reason, if the engine sends neither [DONE] nor the end", async () => {
    await using upstream = await startScriptedUpstream(async (exchange) => {
      exchange.beginEvents();
      const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
      await exchange.sendEvents(chunk({ content: "Hi" }), { ...chunk({}, "stop"), usage });
      await exchange.stall();
    });
    const engine = openEngine(upstream.url);
    const { chunks, error } = await collect(chatModel(engine).stream(streamCall()));
    assert.equal(error, undefined);
    assert.equal(contentOf(chunks), "Hi");
    assert.equal(chunks.at(-2)?.choices[0]?.finish_reason, "stop");
    assert.equal(chunks.at(-1)?.usage?.total_tokens, 3);
    await upstream.until(() => upstream.openSockets === 0, "the connection is closed");
    await engine.close();
  });

  for (const [encoding, compress] of [
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ] as const) {
    test(`is decompressed if the engine sends ${encoding} although nobody asked for it`, async () => {
      await using upstream = await startScriptedUpstream(async (exchange) => {
        const isStream = (exchange.json as { stream?: boolean }).stream === true;
        const type = isStream ? "text/event-stream" : "application/json";
        exchange.begin(200, { "content-type": type, "content-encoding": encoding });
        const events = [
          toEvent(chunk({ content: "Hi ".repeat(50_000) })),
          toEvent(chunk({}, "stop")),
          "data: [DONE]\n\n",
        ];
        const bytes = compress(isStream ? events.join("") : `\ufeff${JSON.stringify(completion)}`);
        const middle = bytes.length >> 1;
        await exchange.send(bytes.subarray(0, middle));
        await exchange.send(bytes.subarray(middle));
        exchange.end();
      });
      const engine = openEngine(upstream.url);
      const { chunks, error } = await collect(chatModel(engine).stream(streamCall()));
      assert.equal(error, undefined);
      assert.equal(contentOf(chunks).length, 150_000);
      assert.equal((await chatModel(engine).complete(toCall())).choices.length, 1);
      await engine.close();
    });
  }

  test("passes over pings and other events that are no chunks", async () => {
    await using upstream = await startScriptedUpstream(async (exchange) => {
      exchange.beginEvents();
      await exchange.send('event: ping\ndata: {"type":"ping"}\n\ndata: {"type":"ping"}\n\ndata:\n\n');
      await exchange.sendEvents(chunk({ content: "Hi" }));
      await exchange.send("event: keepalive\ndata: keepalive\n\ndata:  \n\n");
      await exchange.sendEvents(chunk({}, "stop"), "[DONE]");
      exchange.end();
    });
    const engine = openEngine(upstream.url);
    const { chunks, error } = await collect(chatModel(engine).stream(streamCall()));
    assert.equal(error, undefined);
    assert.equal(contentOf(chunks), "Hi");
    await engine.close();
  });

  test("leaves no listener on the signal", async () => {
    await using upstream = await startScriptedUpstream((exchange) => {
      if ((exchange.json as { stream?: boolean }).stream !== true) return exchange.answer(completion);
      exchange.beginEvents();
      return exchange.sendEvents(chunk({}, "stop"), "[DONE]").then(() => exchange.end());
    });
    const engine = openEngine(upstream.url);
    const { signal } = new AbortController();
    await chatModel(engine).complete(toCall({}, { signal }));
    await collect(chatModel(engine).stream(streamCall(signal)));
    assert.deepEqual(getEventListeners(signal, "abort"), []);
    await engine.close();
  });

  test("has no frame above one mebibyte, whatever the engine sent", async () => {
    const content = "😀".repeat(300_000);
    const logprobs = {
      content: Array.from({ length: 1_000 }, () => ({ token: "x", logprob: 0, bytes: null, top_logprobs: [] })),
    };
    await using upstream = await startScriptedUpstream(async (exchange) => {
      exchange.beginEvents();
      const large = chunk({ role: "assistant", content }, "stop");
      const [choice] = large["choices"] as object[];
      await exchange.sendEvents({ ...large, choices: [{ ...choice, logprobs }] }, "[DONE]");
      exchange.end();
    });
    const engine = openEngine(upstream.url);
    const { chunks } = await collect(chatModel(engine).stream(streamCall()));
    await engine.close();
    assert.equal(contentOf(chunks), content);
    assert.ok(chunks.every((each) => Buffer.byteLength(JSON.stringify(each)) < 1_000_000));
    assert.ok(chunks.every((each) => each.choices[0]?.delta.content?.isWellFormed() !== false));
    const reasons = chunks.map((each) => each.choices[0]?.finish_reason);
    assert.deepEqual(reasons, [...chunks.slice(1).map(() => null), "stop"]);
    assert.equal(chunks.flatMap((each) => each.choices[0]?.logprobs?.content ?? []).length, 1_000);
  });
});

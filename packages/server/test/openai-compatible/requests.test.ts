/** Requests to engines: the caller's bytes, with as few changes as possible. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startScriptedUpstream, type ScriptedExchange } from "../support/scripted-upstream.ts";
import {
  chatModel,
  chunk,
  collect,
  completion,
  modelName,
  openAzureEngine,
  openEngine,
  toCall,
} from "./engine-call.ts";

function answer(exchange: ScriptedExchange): void {
  if ((exchange.json as { stream?: boolean }).stream !== true) {
    exchange.answer(completion);
    return;
  }
  exchange.beginEvents();
  void exchange.sendEvents(chunk({ content: "Hi" }, "stop"), "[DONE]");
  exchange.end();
}

describe("a request", () => {
  test("is sent to the path of chat completions with the engine's credentials and nothing of the caller's", async () => {
    await using upstream = await startScriptedUpstream(answer);
    const engine = openEngine(upstream.url, {
      organization: "org-1",
      project: "proj-1",
      headers: { "x-title": "Sounding", Authorization: "Custom abc" },
    });
    await chatModel(engine).complete(toCall({}, { requestId: "req-1" }));
    await engine.close();
    const [exchange] = upstream.exchanges;
    assert.equal(exchange?.method, "POST");
    assert.equal(exchange.path, "/v1/chat/completions");
    const { host, connection, "content-length": length, ...headers } = exchange.headers;
    assert.ok(host !== undefined && connection === "keep-alive" && Number(length) === exchange.body.length);
    assert.deepEqual(headers, {
      accept: "application/json",
      authorization: "Custom abc",
      "content-type": "application/json",
      "openai-organization": "org-1",
      "openai-project": "proj-1",
      "user-agent": "sounding",
      "x-request-id": "req-1",
      "x-title": "Sounding",
    });
  });

  test("keeps the caller's text except for the members that change", async () => {
    await using upstream = await startScriptedUpstream(answer);
    const engine = openEngine(upstream.url);
    const text =
      '{ "model":"client-model", "messages":[{"role":"user","content":"\\u00e9"}],  "seed":12345678901234567890, "extra_body": {"top_k": 5}, "modality":["text"], "custom": 1.0 }';
    const call = toCall(JSON.parse(text) as Record<string, unknown>, {
      bytes: Buffer.from(text),
      changes: { extra_body: undefined, top_k: 5, modality: undefined, modalities: ["text"] },
    });
    await chatModel(engine).complete(call);
    await engine.close();
    assert.equal(
      upstream.exchanges[0]?.body.toString(),
      `{"messages":[{"role":"user","content":"\\u00e9"}],  "seed":12345678901234567890,"custom": 1.0,"top_k":5,"modalities":["text"],"model":"${modelName}"}`,
    );
  });

  const streams: [name: string, request: Record<string, unknown>, settings: object, expected: object][] = [
    ["asks for usage", { stream: true }, {}, { stream: true, stream_options: { include_usage: true } }],
    [
      "keeps the caller's other stream options",
      { stream: true, stream_options: { include_usage: false, include_obfuscation: false } },
      {},
      { stream: true, stream_options: { include_usage: true, include_obfuscation: false } },
    ],
    ["becomes a stream when it was none", {}, {}, { stream: true, stream_options: { include_usage: true } }],
    ["does not ask for usage where the engine rejects it", { stream: true }, { stream_usage: false }, { stream: true }],
  ];
  for (const [name, request, settings, expected] of streams) {
    test(`for a stream ${name}`, async () => {
      await using upstream = await startScriptedUpstream(answer);
      const engine = openEngine(upstream.url, settings);
      const { error } = await collect(chatModel(engine).stream(toCall(request)));
      assert.equal(error, undefined);
      await engine.close();
      const { model, messages, ...rest } = upstream.exchanges[0]!.json as Record<string, unknown>;
      assert.ok(model === modelName && messages !== undefined);
      assert.deepEqual(rest, expected);
      assert.equal(upstream.exchanges[0]?.headers.accept, "text/event-stream");
    });
  }

  test("for a batch answer is not streamed, whatever the caller requested", async () => {
    await using upstream = await startScriptedUpstream(answer);
    const engine = openEngine(upstream.url);
    await chatModel(engine).complete(toCall({ stream: true, stream_options: { include_usage: true } }));
    await engine.close();
    const { stream, stream_options: options } = upstream.exchanges[0]!.json as Record<string, unknown>;
    assert.equal(stream, false);
    assert.equal(options, undefined);
  });

  test("of 16 MiB arrives whole, with its length, and is not copied", async () => {
    await using upstream = await startScriptedUpstream(answer);
    const engine = openEngine(upstream.url);
    const call = toCall({ messages: [{ role: "user", content: "é😀".repeat(2_700_000) }] });
    const before = process.memoryUsage().arrayBuffers;
    const answered = chatModel(engine).complete(call);
    // At this point the request is in flight, and a copy would exist.
    assert.ok(process.memoryUsage().arrayBuffers - before < call.bytes.length / 2);
    await answered;
    await engine.close();
    const [exchange] = upstream.exchanges;
    assert.equal(exchange?.headers["content-length"], String(exchange?.body.length));
    assert.equal(exchange?.headers["transfer-encoding"], undefined);
    assert.deepEqual(exchange?.json, { ...call.request, model: modelName });
  });

  test("with a parameter that the engine is known to drop is refused by name", async () => {
    await using upstream = await startScriptedUpstream(answer);
    const engine = openEngine(upstream.url, { unsupported_parameters: ["logit_bias", "seed"] });
    const model = chatModel(engine);
    const expected = { code: "unsupported_parameter", param: "seed", message: /^seed is set; .*"client-model"/ };
    await assert.rejects(model.complete(toCall({ seed: 1, logit_bias: null })), expected);
    assert.throws(() => model.stream(toCall({ seed: 0 })), expected);
    await model.complete(toCall({ seed: null }));
    await engine.close();
    assert.equal(upstream.exchanges.length, 1);
  });

  test("reuses a connection", async () => {
    await using upstream = await startScriptedUpstream(answer);
    const engine = openEngine(upstream.url);
    const model = chatModel(engine);
    for (let turn = 0; turn < 5; turn++) {
      await model.complete(toCall());
      // The connection is free again one turn of the event loop later.
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      await collect(model.stream(toCall({ stream: true })));
      await new Promise((resolve) => {
        setImmediate(() => setImmediate(resolve));
      });
    }
    assert.equal(upstream.exchanges.length, 10);
    assert.ok(upstream.openSockets <= 2, `${upstream.openSockets} connections`);
    assert.equal(upstream.aborts, 0);
    await engine.close();
  });
});

describe("Azure OpenAI", () => {
  test("with an API version has deployments in its paths", async () => {
    await using upstream = await startScriptedUpstream(answer);
    const engine = openAzureEngine(`${upstream.url}/`, {
      api_version: "2024-10-21",
      deployments: { [modelName]: "my deployment" },
    });
    await chatModel(engine).complete(toCall());
    await engine.chat?.("other").complete(toCall());
    assert.deepEqual(await engine.listModels(new AbortController().signal), [
      { id: modelName, created: 0, ownedBy: "azure" },
    ]);
    await engine.close();
    const [mapped, plain] = upstream.exchanges;
    assert.equal(mapped?.path, "/openai/deployments/my%20deployment/chat/completions?api-version=2024-10-21");
    assert.equal(mapped.headers["api-key"], "azure-secret");
    assert.equal(mapped.headers.authorization, undefined);
    assert.equal(plain?.path, "/openai/deployments/other/chat/completions?api-version=2024-10-21");
  });

  test("without one has them in the body", async () => {
    await using upstream = await startScriptedUpstream(answer);
    for (const path of ["", "/openai", "/openai/v1/"]) {
      const engine = openAzureEngine(`${upstream.url}${path}`, { deployments: { [modelName]: "mine" } });
      await chatModel(engine).complete(toCall());
      await engine.close();
    }
    for (const { path, json } of upstream.exchanges) {
      assert.equal(path, "/openai/v1/chat/completions");
      assert.equal((json as { model: string }).model, "mine");
    }
  });
});

describe("settings that cannot work", () => {
  for (const name of ["content-length", "Transfer-Encoding", "host"]) {
    test(`the header ${JSON.stringify(name)} is refused`, () => {
      const open = () => openEngine("http://127.0.0.1:1", { headers: { [name]: "1" } });
      assert.throws(open, { code: "invalid_request", message: new RegExp(name) });
    });
  }
});

test("a batch answer to a streamed request becomes a stream", async () => {
  const message = {
    content: "Hello",
    reasoning_content: "Hm",
    tool_calls: [{ id: "call_1", function: { name: "f", arguments: { a: 1 } } }],
  };
  await using upstream = await startScriptedUpstream((exchange) =>
    exchange.answer({ ...completion, choices: [{ message, finish_reason: "tool_use" }] }),
  );
  const engine = openEngine(upstream.url);
  const { chunks, error } = await collect(chatModel(engine).stream(toCall({ stream: true })));
  await engine.close();
  assert.equal(error, undefined);
  const [first, last, usage] = chunks;
  assert.equal(chunks.length, 3);
  assert.deepEqual(first?.choices[0]?.delta, {
    role: "assistant",
    refusal: null,
    content: "Hello",
    reasoning_content: "Hm",
    tool_calls: [{ id: "call_1", type: "function", function: { name: "f", arguments: '{"a":1}' }, index: 0 }],
  });
  assert.equal(last?.choices[0]?.finish_reason, "tool_calls");
  assert.deepEqual(usage?.usage, completion.usage);
  assert.ok(chunks.every(({ object }) => object === "chat.completion.chunk"));
});

/** `POST /v1/messages` for a model whose upstream speaks only chat completions. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../packages/server/src/json-object.ts";
import { assembleMessage } from "../../packages/server/test/support/assemble-message.ts";
import type { Script } from "../../packages/server/test/support/scripted-upstream.ts";
import { piecesOf, streamed } from "../../packages/server/test/support/streamed.ts";
import { beforeTests } from "../support/hooks.ts";
import {
  chatChunk,
  chatChunks,
  chatCompletion,
  chatSpellings,
  readEvents,
  startMessagesServer,
  toChatWire,
  type MessagesServer,
} from "../support/messages-server.ts";

const request = {
  model: "assistant",
  max_tokens: 100,
  thinking: { type: "adaptive" },
  tools: [{ name: "read", input_schema: { type: "object" } }],
  messages: [{ role: "user", content: "Hello" }],
};

describe("the Messages API at an upstream of chat completions", () => {
  let setting: MessagesServer;
  beforeTests(async (stack) => {
    setting = stack.use(await startMessagesServer());
  });

  test("translates the request, and the completion to a message", async () => {
    setting.chat.script = (exchange) =>
      exchange.answer(
        chatCompletion(
          {
            content: "Reading.",
            tool_calls: [{ id: "call_1", type: "function", function: { name: "read", arguments: '{"path":"x"}' } }],
          },
          "tool_calls",
        ),
      );
    const response = await setting.post({ ...request, system: "Be brief.", stop_sequences: ["END"] });
    assert.equal(response.status, 200);
    assert.ok(response.headers.get("x-request-id"));
    const { id, ...message } = (await response.json()) as JsonObject;
    assert.match(String(id), /^msg_/);
    assert.deepEqual(message, {
      type: "message",
      role: "assistant",
      model: "assistant",
      content: [
        { type: "text", text: "Reading." },
        { type: "tool_use", id: "call_1", name: "read", input: { path: "x" } },
      ],
      stop_reason: "tool_use",
      stop_sequence: null,
      stop_details: null,
      usage: { input_tokens: 40, cache_read_input_tokens: 60, cache_creation_input_tokens: 0, output_tokens: 25 },
    });
    assert.deepEqual(setting.chat.exchanges.at(-1)!.json, {
      model: "chat-upstream",
      max_completion_tokens: 100,
      stop: ["END"],
      tools: [{ type: "function", function: { name: "read", parameters: { type: "object" } } }],
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hello" },
      ],
    });
  });

  for (const [name, text] of chatSpellings) {
    for (const size of [1, 5, 100_000]) {
      test(`translates a stream ${name}, in pieces of up to ${size} bytes`, async () => {
        setting.chat.script = streamed(...piecesOf(text, size));
        const events = await readEvents(await setting.post({ ...request, stream: true }));
        const { content, id, model, stop_reason: reason, usage } = assembleMessage(events);
        assert.match(String(id), /^msg_/);
        const [thinking, ...rest] = content;
        assert.deepEqual([thinking?.type, thinking?.["thinking"]], ["thinking", "Hm – 好."]);
        assert.deepEqual(rest, [
          { type: "text", text: "Grüße 👋" },
          { type: "tool_use", id: "call_1", name: "read", input: { path: "x" } },
        ]);
        assert.deepEqual(
          [model, reason, usage],
          [
            "assistant",
            "tool_use",
            { input_tokens: 40, cache_read_input_tokens: 60, cache_creation_input_tokens: 0, output_tokens: 25 },
          ],
        );
      });
    }
  }

  test("keeps the order of tools, and of what is in their schemas: prompt caches depend on it", async () => {
    setting.chat.script = (exchange) => exchange.answer(chatCompletion({ content: "Done." }));
    const properties = { zone: { type: "string" }, area: { enum: ["b", "a"], type: "string" } };
    const schema = { type: "object", required: ["zone", "area"], properties };
    const tools = ["zip", "cut", "add"].map((name) => ({ name, input_schema: schema }));
    assert.equal((await setting.post({ ...request, tools })).status, 200);
    const expected = tools.map(({ name }) => ({ type: "function", function: { name, parameters: schema } }));
    const { body } = setting.chat.exchanges.at(-1)!;
    assert.ok(body.includes(`"tools":${JSON.stringify(expected)}`), body.toString());
  });

  test("keeps reasoning over turns", async () => {
    setting.chat.script = (exchange) => exchange.answer(chatCompletion({ content: "Hi", reasoning_content: "Hm." }));
    const first = (await (await setting.post(request)).json()) as { content: unknown };
    await setting.post({
      ...request,
      messages: [...request.messages, { role: "assistant", content: first.content }, { role: "user", content: "And?" }],
    });
    const { messages } = setting.chat.exchanges.at(-1)!.json as { messages: unknown[] };
    assert.deepEqual(messages[1], { role: "assistant", content: "Hi", reasoning_content: "Hm." });
  });

  test("does not send Anthropic's thinking to others", async () => {
    setting.chat.script = (exchange) => exchange.answer(chatCompletion({ content: "Hi" }));
    const content = [
      { type: "thinking", thinking: "Hm.", signature: "c2ln" },
      { type: "text", text: "Hi" },
    ];
    const messages = [...request.messages, { role: "assistant", content }, { role: "user", content: "And?" }];
    assert.equal((await setting.post({ ...request, messages })).status, 200);
    const sent = setting.chat.exchanges.at(-1)!.json as { messages: unknown[] };
    assert.deepEqual(sent.messages[1], { role: "assistant", content: "Hi" });
  });

  test("names the stop sequence where the upstream does, as vLLM and SGLang do", async () => {
    const asked = { ...request, stop_sequences: ["END"] };
    for (const told of [{ stop_reason: "END" }, { matched_stop: "END" }]) {
      const completion = chatCompletion({ content: "x" });
      setting.chat.script = (exchange) =>
        exchange.answer({ ...completion, choices: [{ ...completion.choices[0], ...told }] });
      const whole = (await (await setting.post(asked)).json()) as JsonObject;
      assert.deepEqual([whole["stop_reason"], whole["stop_sequence"]], ["stop_sequence", "END"]);
      const last = chatChunk({}, "stop");
      const end = { ...last, choices: [{ ...last.choices[0], ...told }] };
      setting.chat.script = streamed(toChatWire([chatChunk({ content: "x" }), end, "[DONE]"]));
      const streamedMessage = assembleMessage(await readEvents(await setting.post({ ...asked, stream: true })));
      assert.deepEqual([streamedMessage["stop_reason"], streamedMessage["stop_sequence"]], ["stop_sequence", "END"]);
    }
  });

  test("tells a truncated answer as truncated", async () => {
    setting.chat.script = streamed(toChatWire([chatChunk({ content: "x" }), chatChunk({}, "length"), "[DONE]"]));
    const message = assembleMessage(await readEvents(await setting.post({ ...request, stream: true })));
    assert.equal(message["stop_reason"], "max_tokens");
  });

  test("tells a failure in the middle of a stream as Anthropic's error event, and ends", async () => {
    const begun = toChatWire(chatChunks.slice(0, 3));
    const failure = `data: ${JSON.stringify({ error: { message: "Overloaded", type: "overloaded_error" } })}\n\n`;
    const cut: Script = async (exchange) => {
      exchange.beginEvents();
      await exchange.drip([begun]);
      exchange.cut();
    };
    for (const script of [streamed(begun + failure), streamed(begun), cut]) {
      setting.chat.script = script;
      const events = await readEvents(await setting.post({ ...request, stream: true }));
      const last = events.at(-1)!;
      assert.equal(last.name, "error");
      assert.equal((JSON.parse(last.data) as JsonObject)["type"], "error");
      assert.equal(events.filter(({ name }) => name === "message_start").length, 1);
      assert.equal(events.filter(({ name }) => name === "message_stop").length, 0);
    }
  });

  test("retries until the first chunk, without a second message_start", async () => {
    let calls = 0;
    setting.chat.script = async (exchange) => {
      calls += 1;
      if (calls === 1) return exchange.answer({ error: { message: "busy" } }, 503);
      return streamed(toChatWire(chatChunks))(exchange);
    };
    const events = await readEvents(await setting.post({ ...request, stream: true }));
    assert.equal(calls, 2);
    assembleMessage(events);
  });

  test("tells an overlong prompt in words that agents recognize", async () => {
    setting.chat.script = (exchange) =>
      exchange.answer(
        { error: { message: "This model's maximum context length is 10 tokens.", type: "invalid_request_error" } },
        400,
      );
    const response = await setting.post(request);
    assert.equal(response.status, 400);
    const { error } = (await response.json()) as { error: JsonObject };
    assert.equal(error["type"], "invalid_request_error");
    assert.match(String(error["message"]), /^prompt is too long: /);
  });

  test("refuses by name what cannot be translated, before any call", async () => {
    const before = setting.chat.exchanges.length;
    const tools = [...request.tools, { type: "web_search_20250305", name: "web_search" }];
    for (const stream of [false, true]) {
      const response = await setting.post({ ...request, tools, stream });
      assert.equal(response.status, 400);
      const { error } = (await response.json()) as { error: JsonObject };
      assert.equal(error["type"], "invalid_request_error");
      assert.match(String(error["message"]), /^tools\[1\]\.type is "web_search_20250305"/);
    }
    assert.equal(setting.chat.exchanges.length, before);
  });

  test("estimates the tokens of a prompt, and says so", async () => {
    const before = setting.chat.exchanges.length;
    const { max_tokens: _, ...prompt } = request;
    const text = "A sentence of nine words, repeated a hundred times. ".repeat(100);
    const response = await setting.post(
      { ...prompt, messages: [{ role: "user", content: text }] },
      {},
      "/v1/messages/count_tokens",
    );
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("x-token-count"), "estimate");
    const { input_tokens: tokens } = (await response.json()) as { input_tokens: number };
    assert.ok(tokens > 900 && tokens < 1_800, String(tokens));
    assert.equal(setting.chat.exchanges.length, before);
  });

  test("stops the upstream when the client leaves", async () => {
    setting.chat.script = async (exchange) => {
      exchange.beginEvents();
      await exchange.drip([toChatWire(chatChunks.slice(0, 3))]);
      await exchange.stall();
    };
    const { aborts } = setting.chat;
    const leaving = new AbortController();
    const response = await fetch(`${setting.server.url}/v1/messages`, {
      method: "POST",
      body: JSON.stringify({ ...request, stream: true }),
      headers: { "x-api-key": setting.server.key, "content-type": "application/json" },
      signal: leaving.signal,
    });
    await response.body!.getReader().read();
    leaving.abort();
    await setting.chat.until(() => setting.chat.aborts > aborts, "the upstream's call ends");
  });
});

/** `POST /v1/messages` for a model whose upstream speaks Anthropic's Messages API: everything passes as it is. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../packages/server/src/json-object.ts";
import type { Script } from "../../packages/server/test/support/scripted-upstream.ts";
import { assembleMessage } from "../../packages/server/test/support/assemble-message.ts";
import { endedLate, piecesOf, streamed } from "../../packages/server/test/support/streamed.ts";
import { beforeTests } from "../support/hooks.ts";
import {
  anthropicEvents,
  anthropicMessage,
  chatCompletion,
  readEvents,
  startMessagesServer,
  toWire,
  type MessagesServer,
} from "../support/messages-server.ts";

const fallbacks = `
  careful: { targets: [{ engine: anthropic, model: claude-upstream }], fallbacks: [assistant], retries: { attempts: 1 } }
  hopeful: { targets: [{ engine: chat, model: chat-upstream }], fallbacks: [claude], retries: { attempts: 1 } }
`;
const request = { model: "claude", max_tokens: 100, messages: [{ role: "user", content: "Hello" }] };

const answer: Script = (exchange) => exchange.answer(anthropicMessage([{ type: "text", text: "Hi" }]));

describe("the Messages API at an upstream that speaks it", () => {
  let setting: MessagesServer;
  beforeTests(async (stack) => {
    setting = stack.use(await startMessagesServer({}, fallbacks));
  });

  const exchanges = () => setting.anthropic.exchanges;

  test("passes the body through byte for byte, except for the model's name", async () => {
    setting.anthropic.script = answer;
    const body =
      '{ "max_tokens":100, "system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],\n' +
      '"model": "claude" ,"tools":[{"type":"web_search_20250305","name":"web_search"}],"a_new_parameter":{"x":1.50},' +
      '"messages":[{"role":"user","content":[{"type":"a_new_block","x":1}]}]}';
    const response = await fetch(`${setting.server.url}/v1/messages?beta=true`, {
      method: "POST",
      body,
      headers: { "x-api-key": setting.server.key, "content-type": "application/json" },
    });
    assert.equal(response.status, 200);
    const { body: sent, path } = exchanges().at(-1)!;
    assert.equal(path, "/v1/messages");
    const kept = sent.toString();
    for (const part of ['"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}]', "1.50"])
      assert.ok(kept.includes(part), kept);
    const expected = JSON.parse(body) as JsonObject;
    assert.deepEqual(JSON.parse(kept), { ...expected, model: "claude-upstream" });
    assert.deepEqual(
      Object.keys(JSON.parse(kept) as object).filter((name) => name !== "model"),
      Object.keys(expected).filter((name) => name !== "model"),
      "the order of the members",
    );
  });

  test("returns the whole answer with the model's name as clients know it", async () => {
    setting.anthropic.script = (exchange) =>
      exchange.answer(anthropicMessage([{ type: "a_new_block", value: 1 }], { a_new_member: [1] }));
    const response = await setting.post(request);
    assert.equal(response.status, 200);
    assert.deepEqual(
      await response.json(),
      anthropicMessage([{ type: "a_new_block", value: 1 }], { a_new_member: [1], model: "claude" }),
    );
  });

  test("forwards anthropic-version and anthropic-beta unchanged, and the client's key never", async () => {
    setting.anthropic.script = answer;
    await setting.post(request, { "anthropic-version": "2099-01-01", "anthropic-beta": "a-2025-01-01,b-2026-01-01" });
    const { headers } = exchanges().at(-1)!;
    assert.equal(headers["anthropic-version"], "2099-01-01");
    assert.equal(headers["anthropic-beta"], "a-2025-01-01,b-2026-01-01");
    assert.equal(headers["x-api-key"], "upstream-key");
    assert.equal(headers.authorization, undefined);
    assert.ok(!JSON.stringify(headers).includes(setting.server.key));
  });

  test("passes calls through to an OpenAI-compatible server that speaks the API", async () => {
    setting.anthropic.script = answer;
    const response = await setting.post({ ...request, model: "compatible", a_new_parameter: 1 });
    assert.equal(((await response.json()) as JsonObject)["model"], "compatible");
    const { headers, json, path } = exchanges().at(-1)!;
    assert.deepEqual([path, json], ["/v1/messages", { ...request, model: "claude-upstream", a_new_parameter: 1 }]);
    assert.equal(headers["anthropic-version"], "2023-06-01");
  });

  test("accepts the key as a bearer token, too", async () => {
    setting.anthropic.script = answer;
    const response = await fetch(`${setting.server.url}/v1/messages`, {
      method: "POST",
      body: JSON.stringify(request),
      headers: { authorization: `Bearer ${setting.server.key}`, "content-type": "application/json" },
    });
    assert.equal(response.status, 200);
  });

  test("keeps the connection after the last event of a stream, which may end later", async () => {
    const ports: unknown[] = [];
    for (let turn = 0; turn < 5; turn += 1) {
      const read = Promise.withResolvers<void>();
      setting.anthropic.script = endedLate(toWire(anthropicEvents), () => read.promise);
      const response = await setting.post({ ...request, stream: true });
      assert.equal((await readEvents(response)).length, anthropicEvents.length);
      read.resolve();
      const { clientPort, closed } = setting.anthropic.exchanges.at(-1)!;
      ports.push(clientPort);
      await closed;
    }
    // A connection is free a little after its stream has ended.
    assert.ok(new Set(ports).size < ports.length, ports.join(", "));
  });

  for (const [name, text] of [
    ["as Anthropic writes it", toWire(anthropicEvents)],
    ["with CRLF", toWire(anthropicEvents, "\r\n")],
    ["with CR", toWire(anthropicEvents, "\r")],
    ["with comments between the lines", toWire(anthropicEvents).replaceAll("data: ", ": a comment\ndata: ")],
  ] as const) {
    for (const size of [1, 7, 100_000]) {
      test(`passes a stream ${name}, in pieces of up to ${size} bytes`, async () => {
        setting.anthropic.script = streamed(...piecesOf(text, size));
        const response = await setting.post({ ...request, stream: true });
        assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
        const events = await readEvents(response);
        const [start, ...rest] = anthropicEvents;
        const { message } = start as unknown as { message: JsonObject };
        assert.deepEqual(
          events.map((event) => ({ name: event.name, ...(JSON.parse(event.data) as object) })),
          [{ ...start, message: { ...message, model: "claude" } }, ...rest].map((event) => ({
            name: (event as { type: string }).type,
            ...event,
          })),
        );
      });
    }
  }

  test("tells a failure in the middle of a stream as Anthropic's error event, and ends", async () => {
    const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    setting.anthropic.script = streamed(toWire([...anthropicEvents.slice(0, 8), overloaded]));
    const events = await readEvents(await setting.post({ ...request, stream: true }));
    const last = events.at(-1)!;
    assert.equal(last.name, "error");
    const { error, type } = JSON.parse(last.data) as { type: string; error: JsonObject };
    assert.deepEqual([type, error["type"]], ["error", "overloaded_error"]);
    assert.equal(events.filter(({ name }) => name === "message_stop").length, 0);
  });

  test("never shows a stream that was cut as complete", async () => {
    for (const script of [
      streamed(toWire(anthropicEvents.slice(0, 8))),
      streamed(toWire(anthropicEvents.slice(0, -1))),
      (async (exchange) => {
        exchange.beginEvents();
        await exchange.drip([toWire(anthropicEvents.slice(0, 8))]);
        exchange.cut();
      }) satisfies Script,
    ]) {
      setting.anthropic.script = script;
      const events = await readEvents(await setting.post({ ...request, stream: true }));
      assert.deepEqual([events.at(-1)!.name, events.some(({ name }) => name === "message_stop")], ["error", false]);
    }
  });

  test("retries a stream that fails with its first event", async () => {
    let calls = 0;
    setting.anthropic.script = async (exchange) => {
      calls += 1;
      const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
      await streamed(toWire(calls === 1 ? [overloaded] : anthropicEvents))(exchange);
    };
    const events = await readEvents(await setting.post({ ...request, stream: true }));
    assert.equal(calls, 2);
    assert.equal(assembleMessage(events.filter(({ name }) => name !== "a_new_event"))["model"], "claude");
  });

  test("falls back to an engine that speaks only chat completions", async () => {
    setting.anthropic.script = (exchange) =>
      exchange.answer({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }, 529);
    setting.chat.script = (exchange) => exchange.answer(chatCompletion({ content: "Hi" }));
    const response = await setting.post({ ...request, model: "careful" });
    const message = (await response.json()) as JsonObject;
    assert.deepEqual([message["content"], message["model"]], [[{ type: "text", text: "Hi" }], "assistant"]);
  });

  test("falls back from an engine of chat completions, unchanged, also in a stream", async () => {
    setting.chat.script = (exchange) => exchange.answer({ error: { message: "busy" } }, 503);
    setting.anthropic.script = streamed(toWire(anthropicEvents));
    const asked = { ...request, model: "hopeful", stream: true, a_new_parameter: 1 };
    const events = await readEvents(await setting.post(asked));
    assert.equal(assembleMessage(events.filter(({ name }) => name !== "a_new_event"))["model"], "claude");
    assert.deepEqual(exchanges().at(-1)!.json, { ...asked, model: "claude-upstream" });
  });

  test("returns what the upstream refuses as Anthropic's error", async () => {
    setting.anthropic.script = (exchange) =>
      exchange.answer(
        {
          type: "error",
          error: { type: "invalid_request_error", message: "prompt is too long: 9 tokens > 5 maximum" },
        },
        400,
      );
    const response = await setting.post(request);
    assert.equal(response.status, 400);
    const { error, type } = (await response.json()) as JsonObject & { error: JsonObject };
    assert.deepEqual(
      [type, error["type"], error["message"]],
      ["error", "invalid_request_error", "prompt is too long: 9 tokens > 5 maximum"],
    );
  });

  test("does not tell the operator's problems", async () => {
    setting.anthropic.script = (exchange) =>
      exchange.answer({ type: "error", error: { type: "authentication_error", message: "invalid x-api-key" } }, 401);
    const response = await setting.post(request);
    assert.equal(response.status, 502);
    const { error } = (await response.json()) as { error: JsonObject };
    assert.deepEqual([error["type"], error["message"]], ["api_error", "The engine rejected its credentials."]);
  });

  test("leaves out thinking that another engine signed, and keeps Anthropic's", async () => {
    setting.chat.script = (exchange) => exchange.answer(chatCompletion({ content: "Hi", reasoning_content: "Hm." }));
    const thinking = { type: "adaptive" };
    const first = await setting.post({ ...request, model: "assistant", thinking });
    const { content } = (await first.json()) as { content: JsonObject[] };
    assert.equal(content[0]?.["type"], "thinking");
    const own = { type: "thinking", thinking: "Own.", signature: "c2ln" };
    setting.anthropic.script = answer;
    const conversation = (blocks: readonly object[]) => [
      ...request.messages,
      { role: "assistant", content: blocks },
      { role: "user", content: "Go on." },
    ];
    const second = await setting.post({ ...request, thinking, messages: conversation([own, ...content]) });
    assert.equal(second.status, 200);
    const { messages } = exchanges().at(-1)!.json as { messages: unknown };
    assert.deepEqual(messages, conversation([own, { type: "text", text: "Hi" }]));
  });

  test("counts tokens at the upstream", async () => {
    setting.anthropic.script = (exchange) => exchange.answer({ input_tokens: 42, a_new_member: 1 });
    const { max_tokens: _, ...prompt } = request;
    const response = await setting.post(prompt, { "anthropic-beta": "x" }, "/v1/messages/count_tokens");
    assert.deepEqual([response.status, await response.json()], [200, { input_tokens: 42 }]);
    assert.equal(response.headers.get("x-token-count"), null);
    const { headers, json, path } = exchanges().at(-1)!;
    assert.deepEqual([path, headers["anthropic-beta"]], ["/v1/messages/count_tokens", "x"]);
    assert.deepEqual(json, { ...prompt, model: "claude-upstream" });
  });

  test("estimates where the upstream does not count", async () => {
    setting.anthropic.script = (exchange) => exchange.answer("Not Found", 404);
    const response = await setting.post(request, {}, "/v1/messages/count_tokens");
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("x-token-count"), "estimate");
    assert.ok(Number(((await response.json()) as JsonObject)["input_tokens"]) > 0);
  });
});

/** Anthropic's official SDK for Node, unchanged, against the whole server with both kinds of upstreams. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import Anthropic, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import type { Script } from "../../packages/server/test/support/scripted-upstream.ts";
import { streamed } from "../../packages/server/test/support/streamed.ts";
import { beforeTests } from "../support/hooks.ts";
import {
  anthropicEvents,
  anthropicMessage,
  chatChunk,
  chatChunks,
  chatCompletion,
  startMessagesServer,
  toChatWire,
  toWire,
  type MessagesServer,
} from "../support/messages-server.ts";

const question = [{ role: "user" as const, content: "Hello" }];
const readTool = { name: "read", description: "Reads.", input_schema: { type: "object" as const } };

/** What each upstream says first: a tool call, and text once it has the tool's result. */
const toolLoops: Readonly<Record<"claude" | "assistant", Script>> = {
  claude(exchange) {
    const { messages } = exchange.json as { messages: { content: unknown }[] };
    const isDone = JSON.stringify(messages.at(-1)).includes("tool_result");
    const call = { type: "tool_use", id: "toolu_1", name: "read", input: { path: "x" } };
    exchange.answer(
      isDone
        ? anthropicMessage([{ type: "text", text: "It says 42." }])
        : anthropicMessage([call], { stop_reason: "tool_use" }),
    );
  },
  assistant(exchange) {
    const { messages } = exchange.json as { messages: { role: string }[] };
    const call = { id: "call_1", type: "function", function: { name: "read", arguments: '{"path":"x"}' } };
    exchange.answer(
      messages.at(-1)?.role === "tool"
        ? chatCompletion({ content: "It says 42." })
        : chatCompletion({ tool_calls: [call] }, "tool_calls"),
    );
  },
};

describe("Anthropic's SDK for Node", () => {
  let setting: MessagesServer;
  let client: Anthropic;
  beforeTests(async (stack) => {
    setting = stack.use(await startMessagesServer());
    client = new Anthropic({ baseURL: setting.server.url, apiKey: setting.server.key, maxRetries: 0 });
  });

  for (const model of ["claude", "assistant"] as const) {
    const upstream = () => (model === "claude" ? setting.anthropic : setting.chat);
    const stream = model === "claude" ? toWire(anthropicEvents) : toChatWire(chatChunks);

    test(`creates a message with ${model}`, async () => {
      upstream().script = (exchange) =>
        exchange.answer(
          model === "claude" ? anthropicMessage([{ type: "text", text: "Hi" }]) : chatCompletion({ content: "Hi" }),
        );
      const { data: message, request_id: id } = await client.messages
        .create({ model, max_tokens: 100, messages: question })
        .withResponse();
      assert.deepEqual(message.content, [{ type: "text", text: "Hi" }]);
      assert.equal(message.stop_reason, "end_turn");
      assert.deepEqual([message.usage.cache_read_input_tokens, message.usage.output_tokens], [60, 25]);
      assert.match(String(id), /^[\w-]+$/);
    });

    test(`streams a message with ${model}`, async () => {
      upstream().script = streamed(stream);
      const text: string[] = [];
      const thoughts: string[] = [];
      const inputs: unknown[] = [];
      const running = client.messages
        .stream({ model, max_tokens: 2_000, messages: question, tools: [readTool], thinking: { type: "adaptive" } })
        .on("text", (piece) => text.push(piece))
        .on("thinking", (piece) => thoughts.push(piece))
        .on("inputJson", (_, input) => inputs.push(input));
      const message = await running.finalMessage();
      assert.deepEqual([text.join(""), thoughts.join("")], ["Grüße 👋", "Hm – 好."]);
      assert.deepEqual(inputs.at(-1), { path: "x" });
      assert.deepEqual(
        message.content.map(({ type }) => type),
        ["thinking", "text", "tool_use"],
      );
      assert.equal(message.model, model);
      assert.equal(message.stop_reason, "tool_use");
      const { cache_read_input_tokens: cached, input_tokens: input, output_tokens: output } = message.usage;
      assert.deepEqual([cached, output], [60, 25]);
      assert.equal(input, model === "claude" ? 10 : 40);
    });

    test(`reads the raw events with ${model}`, async () => {
      upstream().script = streamed(stream);
      const types = new Set<string>();
      const events = await client.messages.create({ model, max_tokens: 100, messages: question, stream: true });
      for await (const event of events) types.add(event.type);
      for (const type of ["message_start", "content_block_delta", "message_delta", "message_stop"])
        assert.ok(types.has(type), type);
    });

    test(`runs a loop of tools with ${model}`, async () => {
      upstream().script = toolLoops[model];
      const calls: unknown[] = [];
      const tool = betaTool({
        name: "read",
        description: "Reads a file.",
        inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
        run({ path }) {
          calls.push(path);
          return "42";
        },
      });
      const message = await client.beta.messages.toolRunner({
        model,
        max_tokens: 100,
        messages: question,
        tools: [tool],
      });
      assert.deepEqual(calls, ["x"]);
      assert.deepEqual(
        message.content.map((block) => (block.type === "text" ? block.text : block.type)),
        ["It says 42."],
      );
    });

    test(`fails in the middle of a stream with ${model}`, async () => {
      const failure = { error: { type: "overloaded_error", message: "Overloaded" } };
      upstream().script = streamed(
        model === "claude"
          ? toWire([...anthropicEvents.slice(0, 8), { type: "error", ...failure }])
          : toChatWire([...chatChunks.slice(0, 3), failure]),
      );
      const running = client.messages.stream({ model, max_tokens: 100, messages: question });
      await assert.rejects(
        running.finalMessage(),
        (error) => error instanceof APIError && /overloaded/i.test(error.message),
      );
    });

    test(`counts tokens with ${model}`, async () => {
      upstream().script = (exchange) => exchange.answer({ input_tokens: 42 });
      const { input_tokens: tokens } = await client.messages.countTokens({ model, messages: question });
      if (model === "claude") assert.equal(tokens, 42);
      else assert.ok(tokens > 0);
    });
  }

  test("returns structured output of a model without the Messages API", async () => {
    setting.chat.script = (exchange) => exchange.answer(chatCompletion({ content: '{"answer":42}' }));
    const schema = { type: "object", properties: { answer: { type: "number" } }, additionalProperties: false };
    const message = await client.messages.create({
      model: "assistant",
      max_tokens: 100,
      messages: question,
      output_config: { format: { type: "json_schema", schema } },
    });
    assert.deepEqual(message.content, [{ type: "text", text: '{"answer":42}' }]);
    const sent = setting.chat.exchanges.at(-1)!.json as { response_format: unknown };
    assert.deepEqual(sent.response_format, {
      type: "json_schema",
      json_schema: { name: "response", schema, strict: true },
    });
  });

  test("raises its own errors", async () => {
    const create = (model: string, options = {}, using = client) =>
      using.messages.create({ model, max_tokens: 100, messages: question, ...options });
    const stranger = new Anthropic({ baseURL: setting.server.url, apiKey: "sk-wrong", maxRetries: 0 });
    await assert.rejects(create("claude", {}, stranger), AuthenticationError);
    await assert.rejects(create("nothing"), (error) => {
      assert.ok(error instanceof NotFoundError);
      assert.equal(error.requestID, (error.error as { request_id: unknown }).request_id);
      return typeof error.requestID === "string";
    });
    await assert.rejects(create("assistant", { max_tokens: "many" }), BadRequestError);
    setting.chat.script = (exchange) => exchange.answer({ error: { message: "slow down" } }, 429);
    await assert.rejects(create("assistant"), RateLimitError);
    setting.chat.script = (exchange) => exchange.answer({ error: { message: "broken" } }, 500);
    await assert.rejects(create("assistant"), InternalServerError);
  });

  test("lists the models", async () => {
    const ids: string[] = [];
    for await (const model of client.models.list({ limit: 1 })) {
      assert.equal(model.type, "model");
      assert.ok(!Number.isNaN(Date.parse(model.created_at)));
      ids.push(model.id);
    }
    assert.ok(ids.includes("claude") && ids.includes("assistant"), ids.join(" "));
    assert.equal(new Set(ids).size, ids.length);
    assert.equal((await client.models.retrieve("assistant")).display_name, "assistant");
    await assert.rejects(client.models.retrieve("nothing"), NotFoundError);
    await assert.rejects(client.models.list({ limit: 5_000 }), BadRequestError);
    await assert.rejects(client.models.list({ after_id: "nothing" }), BadRequestError);
    const [, second] = ids;
    const page = await client.models.list({ before_id: second! });
    assert.deepEqual(
      page.data.map(({ id }) => id),
      [ids[0]],
    );
  });

  test("is not troubled by heartbeats, before the first event and between events", async (context) => {
    const quick = await startMessagesServer({}, "server: { heartbeat_interval_ms: 5, status_hold_ms: 1 }");
    context.after(() => quick[Symbol.asyncDispose]());
    let beats = 0;
    const first = Promise.withResolvers<void>();
    const later = Promise.withResolvers<void>();
    const watchingFetch: typeof fetch = async (...args) => {
      const response = await fetch(...args);
      const watched = response.body!.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform(bytes, controller) {
            beats += Buffer.from(bytes).toString().split(": ping\n").length - 1;
            if (beats >= 2) first.resolve();
            if (beats >= 4) later.resolve();
            controller.enqueue(bytes);
          },
        }),
      );
      return new Response(watched, response);
    };
    quick.chat.script = async (exchange) => {
      exchange.beginEvents();
      await first.promise;
      await exchange.send(toChatWire(chatChunks.slice(0, 3)));
      await later.promise;
      await exchange.send(toChatWire(chatChunks.slice(3)));
      exchange.end();
    };
    const waiting = new Anthropic({
      baseURL: quick.server.url,
      apiKey: quick.server.key,
      maxRetries: 0,
      fetch: watchingFetch,
    });
    const message = await waiting.messages
      .stream({ model: "assistant", max_tokens: 9, messages: question })
      .finalMessage();
    assert.deepEqual(
      message.content.map(({ type }) => type),
      ["text", "tool_use"],
    );
  });

  test("accepts a stream without usage", async () => {
    setting.chat.script = streamed(toChatWire([chatChunk({ content: "Hi" }), chatChunk({}, "stop"), "[DONE]"]));
    const message = await client.messages
      .stream({ model: "assistant", max_tokens: 9, messages: question })
      .finalMessage();
    assert.ok(message.usage.input_tokens > 0 && message.usage.output_tokens > 0);
  });
});

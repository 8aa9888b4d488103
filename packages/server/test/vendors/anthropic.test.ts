import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { answerSchema, messages, pixel, structuredOutput, weatherTool } from "./conversation.ts";
import { apiKey, assemble, collect, complete, openEngine, toCall } from "./vendor-call.ts";
import { events, json, startVendorServer } from "./vendor-server.ts";

const usage = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 3, cache_creation_input_tokens: 2 };
const answer = (content: unknown[], stop: string, more = {}) => ({
  type: "message",
  id: "msg_1",
  role: "assistant",
  model: "claude-sonnet-4-5-20250929",
  content,
  stop_reason: stop,
  stop_sequence: null,
  usage,
  ...more,
});

const begin = {
  type: "message_start",
  message: { ...answer([], ""), stop_reason: null, usage: { ...usage, output_tokens: 1 } },
};
const block = (index: number, start: unknown, ...deltas: unknown[]) => [
  { type: "content_block_start", index, content_block: start },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];
const finish = (stop: string) => [
  { type: "message_delta", delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 5 } },
  { type: "message_stop" },
];

describe("Anthropic", () => {
  test("receives the whole conversation and every parameter", async () => {
    await using server = await startVendorServer();
    server.play(json(answer([{ type: "text", text: "Sunny." }], "end_turn")));
    const engine = openEngine("anthropic", server.url, { headers: { "x-extra": "1" } });
    await complete(engine, "anthropic", {
      messages,
      max_completion_tokens: 100,
      temperature: 0.5,
      stop: ["END", "STOP"],
      tools: [weatherTool],
      tool_choice: { type: "function", function: { name: "get_weather" } },
      parallel_tool_calls: false,
      user: "user-7",
      service_tier: "default",
      top_k: 20,
      inference_geo: "us",
    });
    await engine.close();
    const [request] = server.requests;
    assert.equal(request?.path, "/v1/messages");
    assert.equal(request?.headers["x-api-key"], apiKey);
    assert.equal(request?.headers["x-extra"], "1");
    assert.deepEqual(request?.body, {
      model: "claude-sonnet-4-5",
      max_tokens: 100,
      temperature: 0.5,
      top_k: 20,
      stop_sequences: ["END", "STOP"],
      service_tier: "standard_only",
      metadata: { user_id: "user-7" },
      inference_geo: "us",
      system: [
        { type: "text", text: "Be brief." },
        { type: "text", text: "Use metric units." },
      ],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is this, and the weather in Rome?" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: pixel } },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "text", text: "I look it up." },
            { type: "tool_use", id: "call_0000001", name: "get_weather", input: { place: "Rome" } },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "call_0000001", content: '{"celsius":21}' },
            { type: "text", text: "And tomorrow?" },
          ],
        },
      ],
      tools: [
        {
          name: "get_weather",
          description: "Weather of a place",
          input_schema: weatherTool.function.parameters,
        },
      ],
      tool_choice: { type: "tool", name: "get_weather", disable_parallel_tool_use: true },
    });
  });

  test("answers with text, reasoning, tool calls and usage", async () => {
    await using server = await startVendorServer();
    server.play(
      json(
        answer(
          [
            { type: "thinking", thinking: "Rome is in Italy.", signature: "sig" },
            { type: "text", text: "Let me see." },
            { type: "tool_use", id: "toolu_1", name: "get_weather", input: { place: "Rome" } },
          ],
          "tool_use",
        ),
      ),
    );
    const engine = openEngine("anthropic", server.url);
    const completion = await complete(engine, "anthropic", { tools: [weatherTool] });
    await engine.close();
    assert.equal(completion.id, "msg_1");
    assert.equal(completion.model, "claude-sonnet-4-5-20250929");
    assert.deepEqual(completion.choices, [
      {
        index: 0,
        message: {
          role: "assistant",
          content: "Let me see.",
          refusal: null,
          reasoning_content: "Rome is in Italy.",
          reasoning_details: [
            { type: "reasoning.text", text: "Rome is in Italy.", signature: "sig", format: "anthropic" },
          ],
          tool_calls: [
            { id: "toolu_1", type: "function", function: { name: "get_weather", arguments: '{"place":"Rome"}' } },
          ],
        },
        logprobs: null,
        finish_reason: "tool_calls",
      },
    ]);
    assert.deepEqual(completion.usage, {
      prompt_tokens: 15,
      completion_tokens: 5,
      total_tokens: 20,
      prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: 2 },
    });
  });

  test("streams text, reasoning, tool calls and usage", async () => {
    await using server = await startVendorServer();
    server.play(
      events([
        begin,
        { type: "ping" },
        ...block(
          0,
          { type: "thinking", thinking: "" },
          { type: "thinking_delta", thinking: "Rome " },
          { type: "thinking_delta", thinking: "is far." },
          { type: "signature_delta", signature: "sig" },
        ),
        ...block(
          1,
          { type: "text", text: "" },
          { type: "text_delta", text: "Let " },
          { type: "text_delta", text: "me." },
        ),
        ...block(
          2,
          { type: "tool_use", id: "toolu_1", name: "get_weather", input: {} },
          { type: "input_json_delta", partial_json: '{"place":' },
          { type: "input_json_delta", partial_json: '"Rome"}' },
        ),
        ...block(3, { type: "tool_use", id: "toolu_2", name: "get_weather", input: {} }),
        ...finish("tool_use"),
      ]),
    );
    const engine = openEngine("anthropic", server.url);
    const chunks = await collect(engine, "anthropic", { tools: [weatherTool] });
    await engine.close();
    assert.equal(server.requests[0]?.body?.["stream"], true);
    assert.equal(chunks[0]?.id, "msg_1");
    assert.deepEqual(assemble(chunks), {
      content: "Let me.",
      reasoning: "Rome is far.",
      calls: [
        { id: "toolu_1", name: "get_weather", arguments: '{"place":"Rome"}' },
        { id: "toolu_2", name: "get_weather", arguments: "{}" },
      ],
      finishReasons: ["tool_calls"],
      usage: {
        prompt_tokens: 15,
        completion_tokens: 5,
        total_tokens: 20,
        prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: 2 },
      },
    });
  });

  test("gets its signed reasoning back in the next turn", async () => {
    await using server = await startVendorServer();
    server.play(json(answer([{ type: "text", text: "Yes." }], "end_turn")));
    const engine = openEngine("anthropic", server.url);
    const details = [{ type: "reasoning.text", text: "Rome is far.", signature: "sig", format: "anthropic" }];
    const foreign = [{ type: "reasoning.text", text: "x", signature: "y", format: "amazon_bedrock" }];
    await complete(engine, "anthropic", {
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Hello", reasoning_content: "…", reasoning_details: [...details, ...foreign] },
        { role: "user", content: "Go on" },
      ],
    });
    await engine.close();
    assert.deepEqual(server.requests[0]?.body?.["messages"]?.[1], {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Rome is far.", signature: "sig" },
        { type: "text", text: "Hello" },
      ],
    });
  });

  test("returns structured output natively", async () => {
    await using server = await startVendorServer();
    server.play(json(answer([{ type: "text", text: '{"city":"Rome"}' }], "end_turn")));
    const engine = openEngine("anthropic", server.url);
    const completion = await complete(engine, "anthropic", { response_format: structuredOutput });
    await engine.close();
    assert.deepEqual(server.requests[0]?.body?.["output_config"], {
      format: { type: "json_schema", schema: answerSchema },
    });
    assert.equal(completion.choices[0]?.message.content, '{"city":"Rome"}');
  });

  test("returns structured output of older models by a tool call, but not strictly", async () => {
    await using server = await startVendorServer();
    const call = { type: "tool_use", id: "toolu_1", name: "json", input: { city: "Rome" } };
    server.play(json(answer([call], "tool_use")));
    const engine = openEngine("anthropic", server.url);
    const chat = engine.chat("claude-3-haiku-20240307");
    const loose = { ...structuredOutput, json_schema: { ...structuredOutput.json_schema, strict: false } };
    const completion = await chat.complete(toCall({ response_format: loose }));
    assert.equal(completion.choices[0]?.message.content, '{"city":"Rome"}');
    assert.equal(completion.choices[0]?.finish_reason, "stop");
    await assert.rejects(chat.complete(toCall({ response_format: structuredOutput })), {
      code: "unsupported_parameter",
      param: "response_format.json_schema.strict",
    });
    await engine.close();
    assert.equal(server.requests.length, 1);
  });

  test("requests reasoning by effort, and names parameters that conflict with it", async () => {
    await using server = await startVendorServer();
    server.play(json(answer([{ type: "text", text: "Yes." }], "end_turn")));
    const engine = openEngine("anthropic", server.url);
    await complete(engine, "anthropic", { reasoning_effort: "low", max_completion_tokens: 500 });
    assert.deepEqual(server.requests[0]?.body?.["thinking"], { type: "enabled", budget_tokens: 6400 });
    await assert.rejects(complete(engine, "anthropic", { reasoning_effort: "low", temperature: 0.2 }), {
      code: "unsupported_parameter",
      param: "temperature",
    });
    await engine.close();
    assert.equal(server.requests.length, 1);
  });

  test("reports why it refused", async () => {
    await using server = await startVendorServer();
    const details = { type: "refusal", explanation: "This is dangerous." };
    server.play(json(answer([], "refusal", { stop_details: details })));
    const engine = openEngine("anthropic", server.url);
    const completion = await complete(engine, "anthropic");
    await engine.close();
    assert.equal(completion.choices[0]?.finish_reason, "content_filter");
    assert.equal(completion.choices[0]?.message.refusal, "This is dangerous.");
  });

  test("reports an overload inside a stream as one", async () => {
    await using server = await startVendorServer();
    server.play(
      events([
        begin,
        ...block(0, { type: "text", text: "" }, { type: "text_delta", text: "Hi" }),
        { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
      ]),
    );
    const engine = openEngine("anthropic", server.url);
    await assert.rejects(collect(engine, "anthropic"), { code: "overloaded" });
    await engine.close();
  });

  test("lists its models over all pages", async () => {
    await using server = await startVendorServer();
    server.play(
      json({ data: [{ id: "claude-a", created_at: "2025-01-01T00:00:00Z" }], has_more: true, last_id: "claude-a" }),
      json({ data: [{ id: "claude-b", created_at: "bad" }], has_more: false, last_id: "claude-b" }),
    );
    const engine = openEngine("anthropic", server.url);
    const models = await engine.listModels(new AbortController().signal);
    await engine.close();
    assert.deepEqual(models, [
      { id: "claude-a", created: 1735689600, ownedBy: "anthropic" },
      { id: "claude-b", created: 0, ownedBy: "anthropic" },
    ]);
    assert.deepEqual(
      server.requests.map(({ path }) => path),
      ["/v1/models?limit=1000", "/v1/models?limit=1000&after_id=claude-a"],
    );
  });
});

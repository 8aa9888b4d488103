import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { answerSchema, messages, pixel, structuredOutput, weatherTool } from "./conversation.ts";
import { frame } from "./event-stream.ts";
import { apiKey, assemble, collect, complete, modelOf, openEngine, toCall } from "./vendor-call.ts";
import { bytes, json, startVendorServer } from "./vendor-server.ts";

const usage = {
  inputTokens: 10,
  outputTokens: 5,
  totalTokens: 20,
  cacheReadInputTokens: 3,
  cacheWriteInputTokens: 2,
};
const expectedUsage = {
  prompt_tokens: 15,
  completion_tokens: 5,
  total_tokens: 20,
  prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: 2 },
};
const answer = (content: unknown[], stopReason: string) => ({
  output: { message: { role: "assistant", content } },
  stopReason,
  usage,
  metrics: { latencyMs: 5 },
});
const eventStream = "application/vnd.amazon.eventstream";
const nova = "amazon.nova-pro-v1:0";
const toolUse = { toolUse: { toolUseId: "t1", name: "get_weather", input: { place: "Rome" } } };

describe("Amazon Bedrock", () => {
  test("receives the whole conversation and every parameter", async () => {
    await using server = await startVendorServer();
    server.play(json(answer([{ text: "Sunny." }], "end_turn")));
    const engine = openEngine("amazon_bedrock", server.url);
    await complete(engine, "amazon_bedrock", {
      messages,
      max_tokens: 100,
      temperature: 0.5,
      stop: ["END"],
      tools: [weatherTool],
      tool_choice: { type: "function", function: { name: "get_weather" } },
      user: "user-7",
      metadata: { session: "s1" },
      service_tier: "flex",
      inference_geo: "eu",
    });
    await engine.close();
    const [request] = server.requests;
    assert.equal(request?.path, `/model/${encodeURIComponent(modelOf.amazon_bedrock)}/converse`);
    assert.equal(request.headers.authorization, `Bearer ${apiKey}`);
    assert.deepEqual(request.body, {
      system: [{ text: "Be brief." }, { text: "Use metric units." }],
      messages: [
        {
          role: "user",
          content: [
            { text: "What is this, and the weather in Rome?" },
            { image: { format: "png", source: { bytes: pixel } } },
          ],
        },
        {
          role: "assistant",
          content: [
            { text: "I look it up." },
            { toolUse: { toolUseId: "call_0000001", name: "get_weather", input: { place: "Rome" } } },
          ],
        },
        {
          role: "user",
          content: [
            { toolResult: { toolUseId: "call_0000001", content: [{ text: '{"celsius":21}' }] } },
            { text: "And tomorrow?" },
          ],
        },
      ],
      inferenceConfig: { maxTokens: 100, temperature: 0.5, stopSequences: ["END"] },
      toolConfig: {
        tools: [
          {
            toolSpec: {
              name: "get_weather",
              description: "Weather of a place",
              inputSchema: { json: weatherTool.function.parameters },
            },
          },
        ],
        toolChoice: { tool: { name: "get_weather" } },
      },
      additionalModelRequestFields: { inference_geo: "eu" },
      additionalModelResponseFieldPaths: ["/delta/stop_sequence"],
      requestMetadata: { session: "s1", user: "user-7" },
      serviceTier: { type: "flex" },
    });
  });

  test("signs its requests with an access key", async () => {
    await using server = await startVendorServer();
    server.play(json(answer([{ text: "Sunny." }], "end_turn")));
    const engine = openEngine("amazon_bedrock", server.url, {
      api_key: undefined,
      access_key_id: "AKIDEXAMPLE",
      secret_access_key: "wJalrXUtnFEMI",
      session_token: "session",
    });
    await complete(engine, "amazon_bedrock");
    await engine.close();
    const headers = server.requests[0]?.headers;
    assert.match(
      String(headers?.authorization),
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/us-east-1\/bedrock\/aws4_request, SignedHeaders=.+, Signature=[0-9a-f]{64}$/,
    );
    assert.equal(headers?.["x-amz-security-token"], "session");
  });

  test("does not start without credentials", () => {
    const open = () => openEngine("amazon_bedrock", "http://127.0.0.1:9", { api_key: undefined, access_key_id: "A" });
    assert.throws(open, { code: "invalid_request", param: "secret_access_key" });
  });

  test("answers with reasoning, text, tool calls and usage", async () => {
    await using server = await startVendorServer();
    const reasoning = { reasoningContent: { reasoningText: { text: "Think.", signature: "sig" } } };
    server.play(json(answer([reasoning, { text: "Wait." }, toolUse], "tool_use"), 200, { "x-amzn-requestid": "r1" }));
    const engine = openEngine("amazon_bedrock", server.url);
    const completion = await complete(engine, "amazon_bedrock", { tools: [weatherTool] });
    const message = completion.choices[0]?.message;
    assert.equal(completion.id, "r1");
    assert.deepEqual(message, {
      role: "assistant",
      content: "Wait.",
      refusal: null,
      reasoning_content: "Think.",
      reasoning_details: [{ type: "reasoning.text", text: "Think.", signature: "sig", format: "amazon_bedrock" }],
      tool_calls: [{ id: "t1", type: "function", function: { name: "get_weather", arguments: '{"place":"Rome"}' } }],
    });
    assert.equal(completion.choices[0]?.finish_reason, "tool_calls");
    assert.deepEqual(completion.usage, expectedUsage);

    const history = [{ role: "user", content: "?" }, message, { role: "tool", tool_call_id: "t1", content: "21" }];
    await complete(engine, "amazon_bedrock", { messages: history, tools: [weatherTool] });
    await engine.close();
    assert.deepEqual(server.requests[1]?.body?.["messages"]?.[1], {
      role: "assistant",
      content: [reasoning, { text: "Wait." }, toolUse],
    });
  });

  test("streams reasoning, text, tool calls and usage", async () => {
    await using server = await startVendorServer();
    const delta = (contentBlockIndex: number, piece: object) =>
      frame("contentBlockDelta", { contentBlockIndex, delta: piece });
    const stop = (contentBlockIndex: number) => frame("contentBlockStop", { contentBlockIndex });
    const start = (contentBlockIndex: number, toolUseId: string) =>
      frame("contentBlockStart", { contentBlockIndex, start: { toolUse: { toolUseId, name: "get_weather" } } });
    const whole = Buffer.concat([
      frame("messageStart", { role: "assistant" }),
      delta(0, { reasoningContent: { text: "Think." } }),
      delta(0, { reasoningContent: { signature: "sig" } }),
      stop(0),
      delta(1, { text: "Wa" }),
      delta(1, { text: "it." }),
      stop(1),
      start(2, "t1"),
      delta(2, { toolUse: { input: '{"place":' } }),
      delta(2, { toolUse: { input: '"Rome"}' } }),
      stop(2),
      start(3, "t2"),
      stop(3),
      frame("messageStop", { stopReason: "tool_use" }),
      frame("metadata", { usage, metrics: { latencyMs: 5 } }),
    ]);
    // Split off frame boundaries, as a network does.
    const pieces = Array.from({ length: Math.ceil(whole.length / 97) }, (_, index) =>
      whole.subarray(index * 97, (index + 1) * 97),
    );
    server.play(bytes(eventStream, pieces));
    const engine = openEngine("amazon_bedrock", server.url);
    const chunks = await collect(engine, "amazon_bedrock", { tools: [weatherTool] });
    await engine.close();
    assert.equal(server.requests[0]?.path, `/model/${encodeURIComponent(modelOf.amazon_bedrock)}/converse-stream`);
    assert.equal(chunks[0]?.id, "request-1");
    assert.deepEqual(assemble(chunks), {
      content: "Wait.",
      reasoning: "Think.",
      calls: [
        { id: "t1", name: "get_weather", arguments: '{"place":"Rome"}' },
        { id: "t2", name: "get_weather", arguments: "{}" },
      ],
      finishReasons: ["tool_calls"],
      usage: expectedUsage,
    });
    const details = chunks.flatMap(
      (chunk) => (chunk.choices[0]?.delta as { reasoning_details?: unknown[] } | undefined)?.reasoning_details ?? [],
    );
    assert.deepEqual(details, [{ type: "reasoning.text", text: "Think.", signature: "sig", format: "amazon_bedrock" }]);
  });

  for (const { exception, code } of [
    { exception: "throttlingException", code: "rate_limited" },
    { exception: "serviceUnavailableException", code: "overloaded" },
    { exception: "modelStreamErrorException", code: "upstream_failed" },
    { exception: "validationException", code: "invalid_request" },
  ]) {
    test(`maps a ${exception} inside a stream to ${code}`, async () => {
      await using server = await startVendorServer();
      const frames = [
        frame("messageStart", { role: "assistant" }),
        frame("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "Hi" } }),
        frame(exception, { message: "no more" }, "exception"),
      ];
      server.play(bytes(eventStream, frames));
      const engine = openEngine("amazon_bedrock", server.url);
      await assert.rejects(collect(engine, "amazon_bedrock"), { code, message: /no more/ });
      await engine.close();
    });
  }

  test("fails a stream that is cut inside a frame", async () => {
    await using server = await startVendorServer();
    const text = frame("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "Hi" } });
    server.play(bytes(eventStream, [frame("messageStart", { role: "assistant" }), text.subarray(0, 20)]));
    const engine = openEngine("amazon_bedrock", server.url);
    await assert.rejects(collect(engine, "amazon_bedrock"), { code: "upstream_failed" });
    await engine.close();
  });

  test("returns structured output natively if the model supports it", async () => {
    await using server = await startVendorServer();
    server.play(json(answer([{ text: '{"city":"Rome"}' }], "end_turn")));
    const engine = openEngine("amazon_bedrock", server.url);
    await complete(engine, "amazon_bedrock", { response_format: structuredOutput });
    await engine.close();
    assert.deepEqual(server.requests[0]?.body?.["additionalModelRequestFields"], {
      output_config: { format: { type: "json_schema", schema: answerSchema } },
    });
  });

  test("returns structured output of other models by a tool call, but neither strictly nor with a tool choice", async () => {
    await using server = await startVendorServer();
    const call = { toolUse: { toolUseId: "t1", name: "json", input: { city: "Rome" } } };
    server.play(json(answer([call], "tool_use")));
    const engine = openEngine("amazon_bedrock", server.url);
    const chat = engine.chat(nova);
    const loose = { type: "json_schema", json_schema: { name: "answer", schema: answerSchema } };
    const completion = await chat.complete(toCall({ response_format: loose }));
    assert.equal(completion.choices[0]?.message.content, '{"city":"Rome"}');
    assert.equal(completion.choices[0]?.finish_reason, "stop");
    const unsupported = (param: string) => ({ code: "unsupported_parameter", param });
    await assert.rejects(
      chat.complete(toCall({ response_format: structuredOutput })),
      unsupported("response_format.json_schema.strict"),
    );
    await assert.rejects(
      chat.complete(toCall({ response_format: loose, tools: [weatherTool], tool_choice: "required" })),
      unsupported("tool_choice"),
    );
    await engine.close();
    assert.equal(server.requests.length, 1);
  });

  test("refuses parameters on which its models differ", async () => {
    await using server = await startVendorServer();
    server.play(json(answer([{ text: "x" }], "end_turn")));
    const engine = openEngine("amazon_bedrock", server.url);
    const refused = async (model: string, parameters: Record<string, unknown>, param: string) => {
      const call = engine.chat(model).complete(toCall(parameters));
      await assert.rejects(call, { code: "unsupported_parameter", param });
    };
    const strict = { ...weatherTool, function: { ...weatherTool.function, strict: true } };
    const called = messages.slice(2, 5);
    await refused(nova, { temperature: 1.5 }, "temperature");
    await refused(nova, { reasoning_effort: "low" }, "reasoning_effort");
    await refused(nova, { tools: [weatherTool], parallel_tool_calls: false }, "parallel_tool_calls");
    await refused("openai.gpt-oss-120b-1:0", { stop: ["x"] }, "stop");
    await refused(
      nova,
      { tools: [{ ...weatherTool, function: { name: "other" } }, strict] },
      "tools[1].function.strict",
    );
    await refused(nova, { messages: called }, "tools");
    await refused(nova, { messages: called, tools: [weatherTool], tool_choice: "none" }, "tool_choice");
    assert.equal(server.requests.length, 0);
    await complete(engine, "amazon_bedrock", { tools: [weatherTool], parallel_tool_calls: false });
    await engine.close();
    assert.deepEqual(server.requests[0]?.body?.["additionalModelRequestFields"], {
      tool_choice: { type: "auto", disable_parallel_tool_use: true },
    });
  });

  test("offers no models without configuration", async () => {
    const engine = openEngine("amazon_bedrock", "http://127.0.0.1:9");
    assert.deepEqual(await engine.listModels(new AbortController().signal), []);
    await engine.close();
  });
});

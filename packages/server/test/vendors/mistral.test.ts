import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { answerSchema, messages, pixel, structuredOutput, weatherTool } from "./conversation.ts";
import { apiKey, assemble, collect, complete, openEngine, toCall } from "./vendor-call.ts";
import { events, json, startVendorServer } from "./vendor-server.ts";

const usage = { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15, num_cached_tokens: 4 };
const head = { id: "m1", created: 1_700_000_000, model: "mistral-large-2512" };
const answer = (message: unknown, finishReason: string) => ({
  ...head,
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", ...(message as object) }, finish_reason: finishReason }],
  usage,
});
const chunk = (delta: unknown, finishReason: string | null = null, more = {}) => ({
  ...head,
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason: finishReason }],
  ...more,
});
const toolCall = (index: number, id: string, text: string) => ({
  index,
  id,
  function: { name: "get_weather", arguments: text },
});

describe("Mistral", () => {
  test("receives the whole conversation and every parameter", async () => {
    await using server = await startVendorServer();
    server.play(json(answer({ content: "Sunny." }, "stop")));
    const engine = openEngine("mistral", server.url);
    await complete(engine, "mistral", {
      messages,
      max_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      seed: 5,
      frequency_penalty: 0.5,
      presence_penalty: -0.5,
      stop: ["END"],
      tools: [{ ...weatherTool, function: { ...weatherTool.function, strict: true } }],
      tool_choice: { type: "function", function: { name: "get_weather" } },
      parallel_tool_calls: false,
      metadata: { session: "s1" },
      prompt_cache_key: "cache-1",
      prediction: { type: "content", content: "Sunny" },
      safe_prompt: true,
    });
    await engine.close();
    const [request] = server.requests;
    const callId = request?.body?.["messages"]?.[4]?.["tool_call_id"];
    assert.match(JSON.stringify(callId), /^"[a-z0-9]{9}"$/i, "Mistral takes no other IDs");
    assert.equal(request?.path, "/v1/chat/completions");
    assert.equal(request?.headers.authorization, `Bearer ${apiKey}`);
    assert.deepEqual(request?.body, {
      model: "mistral-large-latest",
      max_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      random_seed: 5,
      frequency_penalty: 0.5,
      presence_penalty: -0.5,
      stop: ["END"],
      metadata: { session: "s1" },
      prompt_cache_key: "cache-1",
      prediction: { type: "content", content: "Sunny" },
      safe_prompt: true,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "system", content: "Use metric units." },
        {
          role: "user",
          content: [
            { type: "text", text: "What is this, and the weather in Rome?" },
            { type: "image_url", image_url: `data:image/png;base64,${pixel}` },
          ],
        },
        {
          role: "assistant",
          content: "I look it up.",
          tool_calls: [
            { id: callId, type: "function", function: { name: "get_weather", arguments: '{"place":"Rome"}' } },
          ],
        },
        { role: "tool", name: "get_weather", tool_call_id: callId, content: '{"celsius":21}' },
        { role: "user", content: [{ type: "text", text: "And tomorrow?" }] },
      ],
      tools: [{ ...weatherTool, function: { ...weatherTool.function, strict: true } }],
      tool_choice: { type: "function", function: { name: "get_weather" } },
      parallel_tool_calls: false,
    });
  });

  test("answers with reasoning, text, tool calls and usage", async () => {
    await using server = await startVendorServer();
    const content = [
      { type: "thinking", thinking: [{ type: "text", text: "Think." }] },
      { type: "text", text: "Wait." },
    ];
    server.play(json(answer({ content, tool_calls: [toolCall(0, "abcdefghi", '{"place":"Rome"}')] }, "tool_calls")));
    const engine = openEngine("mistral", server.url);
    const completion = await complete(engine, "mistral", { tools: [weatherTool] });
    await engine.close();
    assert.equal(completion.id, "m1");
    assert.equal(completion.created, 1_700_000_000);
    assert.equal(completion.model, "mistral-large-2512");
    assert.deepEqual(completion.choices[0]?.message, {
      role: "assistant",
      content: "Wait.",
      refusal: null,
      reasoning_content: "Think.",
      tool_calls: [
        { id: "abcdefghi", type: "function", function: { name: "get_weather", arguments: '{"place":"Rome"}' } },
      ],
    });
    assert.equal(completion.choices[0].finish_reason, "tool_calls");
    assert.deepEqual(completion.usage, {
      prompt_tokens: 12,
      completion_tokens: 3,
      total_tokens: 15,
      prompt_tokens_details: { cached_tokens: 4 },
    });
  });

  test("streams text and tool calls, in pieces or whole", async () => {
    await using server = await startVendorServer();
    server.play(
      events([
        chunk({ role: "assistant", content: "" }),
        chunk({ content: "Wait" }),
        chunk({ content: "." }),
        chunk({ tool_calls: [toolCall(0, "abcdefghi", '{"place":')] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: '"Rome"}' } }] }),
        chunk({ tool_calls: [toolCall(1, "bcdefghij", "{}")] }, "tool_calls", { usage }),
        "data: [DONE]\n\n",
      ]),
    );
    const engine = openEngine("mistral", server.url);
    const chunks = await collect(engine, "mistral", { tools: [weatherTool] });
    await engine.close();
    const { content, calls, finishReasons } = assemble(chunks);
    assert.equal(content, "Wait.");
    assert.deepEqual(calls, [
      { id: "abcdefghi", name: "get_weather", arguments: '{"place":"Rome"}' },
      { id: "bcdefghij", name: "get_weather", arguments: "{}" },
    ]);
    assert.deepEqual(finishReasons, ["tool_calls"]);
  });

  test("returns JSON, with a strict schema, a loose one or none", async () => {
    await using server = await startVendorServer();
    server.play(json(answer({ content: "{}" }, "stop")));
    const engine = openEngine("mistral", server.url);
    await complete(engine, "mistral", { response_format: structuredOutput });
    await complete(engine, "mistral", {
      response_format: {
        type: "json_schema",
        json_schema: { name: "answer", description: "A city", schema: answerSchema },
      },
    });
    await complete(engine, "mistral", { response_format: { type: "json_object" } });
    await engine.close();
    const formats = server.requests.map((request) => request.body?.["response_format"]);
    assert.deepEqual(formats, [
      { type: "json_schema", json_schema: { name: "answer", schema: answerSchema, strict: true } },
      {
        type: "json_schema",
        json_schema: {
          name: "answer",
          description: "A city",
          schema: { description: "A city", ...answerSchema },
          strict: false,
        },
      },
      { type: "json_object" },
    ]);
  });

  test("reasons by effort only if the model can", async () => {
    await using server = await startVendorServer();
    server.play(json(answer({ content: "x" }, "stop")));
    const engine = openEngine("mistral", server.url);
    await assert.rejects(complete(engine, "mistral", { reasoning_effort: "high" }), {
      code: "unsupported_parameter",
      param: "reasoning_effort",
    });
    await engine.chat("mistral-small-latest").complete(toCall({ reasoning_effort: "high" }));
    await engine.close();
    assert.equal(server.requests.length, 1);
    assert.equal(server.requests[0]?.body?.["reasoning_effort"], "high");
  });

  test("lists the models that chat or embed", async () => {
    await using server = await startVendorServer();
    const capabilities = (chats: boolean) => ({ capabilities: { completion_chat: chats } });
    server.play(
      json({
        object: "list",
        data: [
          { id: "a", created: 5, owned_by: "mistralai", ...capabilities(true) },
          { id: "b", ...capabilities(false) },
          { id: "c" },
          { id: "mistral-embed", ...capabilities(false) },
        ],
      }),
    );
    const engine = openEngine("mistral", server.url);
    assert.deepEqual(await engine.listModels(new AbortController().signal), [
      { id: "a", created: 5, ownedBy: "mistralai" },
      { id: "c", created: 0, ownedBy: "mistral" },
      { id: "mistral-embed", created: 0, ownedBy: "mistral" },
    ]);
    server.play(json({ message: "no" }, 401));
    await assert.rejects(engine.listModels(new AbortController().signal), { code: "upstream_failed" });
    await engine.close();
  });
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { answerSchema, messages, pixel, structuredOutput, weatherTool } from "./conversation.ts";
import { apiKey, assemble, collect, complete, openEngine } from "./vendor-call.ts";
import { events, json, startVendorServer } from "./vendor-server.ts";

const usage = { billed_units: { input_tokens: 9, output_tokens: 3 }, tokens: { input_tokens: 12, output_tokens: 3 } };
const expectedUsage = {
  prompt_tokens: 12,
  completion_tokens: 3,
  total_tokens: 15,
  billed_units: usage.billed_units,
};
const answer = (message: object, finishReason: string) => ({
  id: "c1",
  generation_id: "c1",
  message: { role: "assistant", ...message },
  finish_reason: finishReason,
  usage,
});
const call = (id: string, text: string) => ({
  id,
  type: "function",
  function: { name: "get_weather", arguments: text },
});

describe("Cohere", () => {
  test("receives the whole conversation and every parameter", async () => {
    await using server = await startVendorServer();
    server.play(json(answer({ content: [{ type: "text", text: "Sunny." }] }, "COMPLETE")));
    const engine = openEngine("cohere", server.url);
    await complete(engine, "cohere", {
      messages,
      max_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      top_k: 40,
      seed: 5,
      frequency_penalty: 0.5,
      presence_penalty: 0.25,
      stop: ["END"],
      tools: [{ ...weatherTool, function: { ...weatherTool.function, strict: true } }],
      tool_choice: "required",
      reasoning_effort: "none",
      safety_mode: "STRICT",
    });
    await engine.close();
    const [request] = server.requests;
    assert.equal(request?.path, "/v2/chat");
    assert.equal(request?.headers.authorization, `Bearer ${apiKey}`);
    assert.deepEqual(request?.body, {
      model: "command-a-03-2025",
      max_tokens: 100,
      temperature: 0.5,
      p: 0.9,
      k: 40,
      seed: 5,
      frequency_penalty: 0.5,
      presence_penalty: 0.25,
      stop_sequences: ["END"],
      safety_mode: "STRICT",
      thinking: { type: "disabled" },
      messages: [
        { role: "system", content: "Be brief." },
        { role: "system", content: "Use metric units." },
        {
          role: "user",
          content: [
            { type: "text", text: "What is this, and the weather in Rome?" },
            { type: "image_url", image_url: { url: `data:image/png;base64,${pixel}` } },
          ],
        },
        {
          role: "assistant",
          tool_plan: "I look it up.",
          tool_calls: [call("call_0000001", '{"place":"Rome"}')],
        },
        { role: "tool", tool_call_id: "call_0000001", content: '{"celsius":21}' },
        { role: "user", content: "And tomorrow?" },
      ],
      tools: [weatherTool],
      strict_tools: true,
      tool_choice: "REQUIRED",
    });
  });

  test("accepts one tool for the choice of one, and images by URL with a detail", async () => {
    await using server = await startVendorServer();
    server.play(json(answer({ tool_plan: "I look.", tool_calls: [call("t1", "null")] }, "TOOL_CALL")));
    const engine = openEngine("cohere", server.url);
    const other = { type: "function", function: { name: "other" } };
    const image = { type: "image_url", image_url: { url: "https://example.com/a.png", detail: "low" } };
    const completion = await complete(engine, "cohere", {
      messages: [{ role: "user", content: [image] }],
      tools: [weatherTool, other],
      tool_choice: { type: "function", function: { name: "get_weather" } },
    });
    await engine.close();
    const body = server.requests[0]?.body;
    assert.deepEqual(body?.["tools"], [weatherTool]);
    assert.equal(body["tool_choice"], "REQUIRED");
    assert.deepEqual(body["messages"], [{ role: "user", content: [image] }]);
    assert.equal(completion.choices[0]?.message.content, "I look.");
    assert.deepEqual(completion.choices[0].message.tool_calls, [
      { id: "t1", type: "function", function: { name: "get_weather", arguments: "{}" } },
    ]);
  });

  test("answers with reasoning, text and usage", async () => {
    await using server = await startVendorServer();
    const content = [
      { type: "thinking", thinking: "Think." },
      { type: "text", text: "Wait." },
    ];
    server.play(json(answer({ content }, "MAX_TOKENS")));
    const engine = openEngine("cohere", server.url);
    const completion = await complete(engine, "cohere");
    await engine.close();
    assert.equal(completion.id, "c1");
    assert.deepEqual(completion.choices[0], {
      index: 0,
      message: { role: "assistant", content: "Wait.", refusal: null, reasoning_content: "Think." },
      logprobs: null,
      finish_reason: "length",
    });
    assert.deepEqual(completion.usage, expectedUsage);
  });

  test("streams reasoning, text and tool calls", async () => {
    await using server = await startVendorServer();
    const content = (index: number, type: string, delta: object) => ({
      type,
      index,
      delta: { message: { content: delta } },
    });
    const tool = (type: string, piece: object) => ({ type, index: 0, delta: { message: { tool_calls: piece } } });
    server.play(
      events([
        { type: "message-start", id: "c1", delta: { message: { role: "assistant" } } },
        content(0, "content-start", { type: "thinking", thinking: "" }),
        content(0, "content-delta", { thinking: "Thi" }),
        content(0, "content-delta", { thinking: "nk." }),
        { type: "content-end", index: 0 },
        content(1, "content-start", { type: "text", text: "" }),
        content(1, "content-delta", { text: "Wait." }),
        { type: "content-end", index: 1 },
        { type: "tool-plan-delta", delta: { message: { tool_plan: "I look." } } },
        tool("tool-call-start", call("t1", "")),
        tool("tool-call-delta", { function: { arguments: '{"place":' } }),
        tool("tool-call-delta", { function: { arguments: '"Rome"}' } }),
        { type: "tool-call-end", index: 0 },
        tool("tool-call-start", call("t2", "")),
        { type: "tool-call-end", index: 1 },
        { type: "message-end", delta: { finish_reason: "TOOL_CALL", usage } },
      ]),
    );
    const engine = openEngine("cohere", server.url);
    const chunks = await collect(engine, "cohere", { tools: [weatherTool] });
    await engine.close();
    assert.deepEqual(assemble(chunks), {
      content: "Wait.I look.",
      reasoning: "Think.",
      calls: [
        { id: "t1", name: "get_weather", arguments: '{"place":"Rome"}' },
        { id: "t2", name: "get_weather", arguments: "{}" },
      ],
      finishReasons: ["tool_calls"],
      usage: expectedUsage,
    });
  });

  test("returns JSON, with a schema or without", async () => {
    await using server = await startVendorServer();
    server.play(json(answer({ content: [{ type: "text", text: "{}" }] }, "COMPLETE")));
    const engine = openEngine("cohere", server.url);
    await complete(engine, "cohere", { response_format: structuredOutput });
    await complete(engine, "cohere", { response_format: { type: "json_object" } });
    await engine.close();
    assert.deepEqual(
      server.requests.map((request) => request.body?.["response_format"]),
      [{ type: "json_object", json_schema: answerSchema }, { type: "json_object" }],
    );
  });

  test("reports errors and timeouts at the vendor", async () => {
    await using server = await startVendorServer();
    const engine = openEngine("cohere", server.url);
    for (const reason of ["ERROR", "TIMEOUT"]) {
      server.play(json(answer({ content: [] }, reason)));
      await assert.rejects(complete(engine, "cohere"), { code: "upstream_failed", message: new RegExp(reason) });
    }
    await engine.close();
  });

  test("lists the models that chat or embed, from version 1 of the API", async () => {
    await using server = await startVendorServer();
    const first = [
      { name: "a", endpoints: ["chat"] },
      { name: "embed-v4.0", endpoints: ["embed", "classify"] },
      { name: "rerank", endpoints: ["rerank"] },
    ];
    server.play(json({ models: first, next_page_token: "p2" }), json({ models: [{ name: "b" }] }));
    const engine = openEngine("cohere", server.url);
    const models = await engine.listModels(new AbortController().signal);
    await engine.close();
    assert.deepEqual(
      models.map(({ id }) => id),
      ["a", "embed-v4.0", "b"],
    );
    assert.deepEqual(
      server.requests.map(({ path }) => path),
      ["/v1/models?page_size=1000", "/v1/models?page_size=1000&page_token=p2"],
    );
  });
});

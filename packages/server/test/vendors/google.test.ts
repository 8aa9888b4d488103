import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { answerSchema, messages, pixel, structuredOutput, weatherTool } from "./conversation.ts";
import { apiKey, assemble, collect, complete, openEngine, toCall } from "./vendor-call.ts";
import { events, json, startVendorServer } from "./vendor-server.ts";

const usageMetadata = {
  promptTokenCount: 20,
  candidatesTokenCount: 6,
  thoughtsTokenCount: 4,
  cachedContentTokenCount: 8,
  totalTokenCount: 30,
};
const usage = {
  prompt_tokens: 20,
  completion_tokens: 10,
  total_tokens: 30,
  prompt_tokens_details: { cached_tokens: 8 },
  completion_tokens_details: { reasoning_tokens: 4 },
};
const answer = (parts: unknown[], finishReason?: string) => ({
  responseId: "r1",
  candidates: [{ content: { role: "model", parts }, finishReason, index: 0 }],
  usageMetadata,
});
const call = { functionCall: { id: "fc1", name: "get_weather", args: { place: "Rome" } }, thoughtSignature: "sig" };

describe("Google", () => {
  test("receives the whole conversation and every parameter", async () => {
    await using server = await startVendorServer();
    server.play(json(answer([{ text: "Sunny." }], "STOP")));
    const engine = openEngine("google", server.url);
    await complete(engine, "google", {
      messages,
      max_tokens: 100,
      temperature: 1.5,
      top_p: 0.9,
      top_k: 40,
      seed: 5,
      stop: "END",
      tools: [weatherTool],
      tool_choice: "required",
      parallel_tool_calls: true,
      reasoning_effort: "low",
      service_tier: "flex",
      safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
      generationConfig: { enableEnhancedCivicAnswers: true },
    });
    await engine.close();
    const [request] = server.requests;
    assert.equal(request?.path, "/v1beta/models/gemini-2.5-flash:generateContent");
    assert.equal(request?.headers["x-goog-api-key"], apiKey);
    assert.deepEqual(request?.body, {
      systemInstruction: { parts: [{ text: "Be brief." }, { text: "Use metric units." }] },
      contents: [
        {
          role: "user",
          parts: [
            { text: "What is this, and the weather in Rome?" },
            { inlineData: { mimeType: "image/png", data: pixel } },
          ],
        },
        {
          role: "model",
          parts: [
            { text: "I look it up." },
            { functionCall: { id: "call_0000001", name: "get_weather", args: { place: "Rome" } } },
          ],
        },
        {
          role: "user",
          parts: [
            {
              functionResponse: {
                id: "call_0000001",
                name: "get_weather",
                response: { name: "get_weather", content: '{"celsius":21}' },
              },
            },
          ],
        },
        { role: "user", parts: [{ text: "And tomorrow?" }] },
      ],
      generationConfig: {
        maxOutputTokens: 100,
        temperature: 1.5,
        topP: 0.9,
        topK: 40,
        seed: 5,
        stopSequences: ["END"],
        thinkingConfig: { includeThoughts: true, thinkingBudget: 6554 },
        enableEnhancedCivicAnswers: true,
      },
      tools: [
        {
          functionDeclarations: [
            {
              name: "get_weather",
              description: "Weather of a place",
              parametersJsonSchema: weatherTool.function.parameters,
            },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: "ANY" } },
      serviceTier: "flex",
      safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
    });
  });

  test("receives the results of parallel calls as one turn", async () => {
    await using server = await startVendorServer();
    server.play(json(answer([{ text: "Both are sunny." }], "STOP")));
    const engine = openEngine("google", server.url);
    const called = ["Rome", "Oslo"].map((place, index) => ({
      id: `call_000000${index}`,
      type: "function",
      function: { name: "get_weather", arguments: JSON.stringify({ place }) },
    }));
    const results = called.map(({ id }) => ({ role: "tool", tool_call_id: id, content: `of ${id}` }));
    await complete(engine, "google", {
      messages: [
        { role: "user", content: "Rome and Oslo?" },
        { role: "assistant", content: null, tool_calls: called },
        ...results,
        { role: "user", content: "Compare." },
      ],
    });
    await engine.close();
    const { contents } = server.requests[0]!.body as unknown as { contents: { role: string; parts: object[] }[] };
    assert.deepEqual(
      contents.map(({ role, parts }) => [role, parts.length]),
      [
        ["user", 1],
        ["model", 2],
        ["user", 2],
        ["user", 1],
      ],
    );
  });

  test("gets no seed that was rounded", async () => {
    await using server = await startVendorServer();
    const engine = openEngine("google", server.url);
    const request = { messages: [{ role: "user", content: "Hi" }], seed: 2 ** 60 };
    await assert.rejects(complete(engine, "google", request), { code: "unsupported_parameter", param: "seed" });
    await engine.close();
    assert.deepEqual(server.requests, []);
  });

  test("accepts audio and files", async () => {
    await using server = await startVendorServer();
    server.play(json(answer([{ text: "Heard." }], "STOP")));
    const engine = openEngine("google", server.url);
    await complete(engine, "google", {
      messages: [
        {
          role: "user",
          content: [
            { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
            { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0=" } },
          ],
        },
      ],
    });
    await engine.close();
    assert.deepEqual(server.requests[0]?.body?.["contents"], [
      {
        role: "user",
        parts: [
          { inlineData: { mimeType: "audio/wav", data: "AAAA" } },
          { inlineData: { mimeType: "application/pdf", data: "JVBERi0=" } },
        ],
      },
    ]);
  });

  test("answers with thoughts, text, calls and usage; a call's signature is sent back with it", async () => {
    await using server = await startVendorServer();
    const parts = [{ text: "Think.", thought: true }, { text: "Wait." }, call];
    server.play(json(answer(parts, "STOP")));
    const engine = openEngine("google", server.url);
    const completion = await complete(engine, "google", { tools: [weatherTool] });
    const [choice] = completion.choices;
    const toolCalls = [
      {
        id: "fc1",
        type: "function",
        function: { name: "get_weather", arguments: '{"place":"Rome"}' },
        extra_content: { google: { thought_signature: "sig" } },
      },
    ];
    assert.deepEqual(choice?.message, {
      role: "assistant",
      content: "Wait.",
      refusal: null,
      reasoning_content: "Think.",
      tool_calls: toolCalls,
    });
    assert.equal(choice.finish_reason, "tool_calls");
    assert.deepEqual(completion.usage, usage);

    const history = [
      { role: "user", content: "Weather?" },
      choice.message,
      { role: "tool", tool_call_id: "fc1", content: "21" },
    ];
    await complete(engine, "google", { messages: history, tools: [weatherTool] });
    await engine.close();
    assert.deepEqual(server.requests[1]?.body?.["contents"]?.[1], { role: "model", parts: [{ text: "Wait." }, call] });
  });

  test("streams thoughts, text, calls and usage", async () => {
    await using server = await startVendorServer();
    const second = { functionCall: { id: "fc2", name: "get_weather", args: {} } };
    server.play(
      events([
        answer([{ text: "Thi", thought: true }]),
        answer([{ text: "nk.", thought: true }]),
        answer([{ text: "Wait" }]),
        answer([{ text: "." }, call]),
        answer([second], "STOP"),
      ]),
    );
    const engine = openEngine("google", server.url);
    const chunks = await collect(engine, "google", { tools: [weatherTool] });
    await engine.close();
    assert.equal(server.requests[0]?.path, "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse");
    assert.deepEqual(assemble(chunks), {
      content: "Wait.",
      reasoning: "Think.",
      calls: [
        { id: "fc1", name: "get_weather", arguments: '{"place":"Rome"}' },
        { id: "fc2", name: "get_weather", arguments: "{}" },
      ],
      finishReasons: ["tool_calls"],
      usage,
    });
    const extras = chunks
      .flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? [])
      .filter((each) => "extra_content" in each);
    // With the call's first piece: that is where translations to other APIs need it.
    const { extra_content: extra, ...piece } = extras[0] as (typeof extras)[0] & { extra_content?: unknown };
    assert.deepEqual([extras.length, extra], [1, { google: { thought_signature: "sig" } }]);
    assert.deepEqual([piece.index, piece.id], [0, "fc1"]);
  });

  test("returns JSON, with a schema or without", async () => {
    await using server = await startVendorServer();
    server.play(json(answer([{ text: "{}" }], "STOP")));
    const engine = openEngine("google", server.url);
    await complete(engine, "google", { response_format: { type: "json_object" } });
    assert.deepEqual(server.requests[0]?.body?.["generationConfig"], { responseMimeType: "application/json" });
    await complete(engine, "google", { response_format: structuredOutput });
    assert.deepEqual(server.requests[1]?.body?.["generationConfig"], {
      responseMimeType: "application/json",
      responseJsonSchema: answerSchema,
    });
    await engine.close();
  });

  test("reports blocked prompts, unsafe answers and broken calls", async () => {
    await using server = await startVendorServer();
    const engine = openEngine("google", server.url);
    server.play(json({ promptFeedback: { blockReason: "SAFETY" }, usageMetadata }));
    assert.equal((await complete(engine, "google")).choices[0]?.finish_reason, "content_filter");
    server.play(json(answer([{ text: "x" }], "MAX_TOKENS")));
    assert.equal((await complete(engine, "google")).choices[0]?.finish_reason, "length");
    for (const reason of ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"]) {
      server.play(json(answer([{ text: "x" }], reason)));
      await assert.rejects(complete(engine, "google"), { code: "upstream_failed", message: new RegExp(reason) });
    }
    server.play(json(answer([{ inlineData: { mimeType: "image/png", data: pixel } }], "STOP")));
    await assert.rejects(complete(engine, "google"), { code: "upstream_failed", message: /image\/png/ });
    await engine.close();
  });

  test("refuses the penalties for models without them, and accepts them for others", async () => {
    await using server = await startVendorServer();
    server.play(json(answer([{ text: "x" }], "STOP")));
    const engine = openEngine("google", server.url);
    await assert.rejects(complete(engine, "google", { presence_penalty: 0.5 }), {
      code: "unsupported_parameter",
      param: "presence_penalty",
    });
    await engine.chat("gemini-2.0-flash").complete(toCall({ presence_penalty: 0.5 }));
    await engine.close();
    assert.equal(server.requests.length, 1);
    assert.deepEqual(server.requests[0]?.body?.["generationConfig"], { presencePenalty: 0.5 });
  });

  test("hides a bad key behind our own message", async () => {
    await using server = await startVendorServer();
    const error = { code: 400, message: "API key not valid. Please pass a valid API key.", status: "INVALID_ARGUMENT" };
    server.play(json({ error }, 400));
    const engine = openEngine("google", server.url);
    await assert.rejects(complete(engine, "google"), { code: "upstream_failed", message: /credentials/ });
    await engine.close();
  });

  test("lists the models that chat or embed, over all pages", async () => {
    await using server = await startVendorServer();
    const methods = (...names: string[]) => ({ supportedGenerationMethods: names });
    server.play(
      json({ models: [{ name: "models/a", ...methods("generateContent") }], nextPageToken: "p2" }),
      json({
        models: [
          { name: "models/b-embed", ...methods("embedContent") },
          { name: "models/c", ...methods("predict") },
          { name: "models/d" },
        ],
      }),
    );
    const engine = openEngine("google", server.url);
    const models = await engine.listModels(new AbortController().signal);
    await engine.close();
    assert.deepEqual(
      models.map(({ id }) => id),
      ["a", "b-embed", "d"],
    );
    assert.equal(server.requests[1]?.path, "/v1beta/models?pageSize=1000&pageToken=p2");
    assert.equal(server.requests[0]?.headers["x-goog-api-key"], apiKey);
  });
});

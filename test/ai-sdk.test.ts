/** Vercel's AI SDK with its OpenAI-compatible provider, unchanged, against the whole server with a scripted engine. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateText, isStepCount, jsonSchema, Output, streamText, tool } from "ai";
import {
  startScriptedUpstream,
  type Script,
  type ScriptedUpstream,
} from "../packages/server/test/support/scripted-upstream.ts";
import { startServer } from "./support/running-server.ts";

const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
const head = { id: "chatcmpl-1", created: 1_795_000_000, model: "upstream-model" };

function completion(message: object, finishReason = "stop") {
  const choice = { index: 0, message: { role: "assistant", content: null, ...message }, finish_reason: finishReason };
  return { ...head, object: "chat.completion", choices: [choice], usage };
}

function chunk(delta: object, finishReason: string | null = null) {
  return { ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finishReason }] };
}

const addCall = { id: "call_1", type: "function", function: { name: "add", arguments: '{"a":1,"b":2}' } };
const numbers = jsonSchema<{ a: number; b: number }>({
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
  additionalProperties: false,
});
const tools = {
  add: tool({ description: "Adds two numbers.", inputSchema: numbers, execute: ({ a, b }) => Promise.resolve(a + b) }),
};

async function start(script: Script) {
  const upstream = await startScriptedUpstream(script);
  const server = await startServer(`
discovery: { enabled: false }
engines: { scripted: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [upstream-model] } }
models: { assistant: { targets: [{ engine: scripted, model: upstream-model }], retries: { attempts: 1 } } }
`);
  const provider = createOpenAICompatible({
    name: "sounding",
    baseURL: `${server.url}/v1`,
    apiKey: server.key,
    includeUsage: true,
    supportsStructuredOutputs: true,
  });
  return {
    upstream,
    model: provider.chatModel("assistant"),
    provider,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await upstream.close();
    },
  };
}

/** The engine's request with this number. */
const asked = (upstream: ScriptedUpstream, index = 0) =>
  upstream.exchanges[index]!.json as { messages: { role: string; content: unknown }[]; response_format?: object };

describe("the AI SDK", () => {
  test("generates text, with its usage", async () => {
    await using setting = await start((exchange) => exchange.answer(completion({ content: "Six feet." })));
    const {
      text,
      finishReason,
      usage: used,
    } = await generateText({
      model: setting.model,
      instructions: "Be brief.",
      prompt: "What is a fathom?",
    });
    assert.deepEqual([text, finishReason, used.inputTokens, used.outputTokens], ["Six feet.", "stop", 5, 2]);
    assert.deepEqual(
      asked(setting.upstream).messages.map(({ role }) => role),
      ["system", "user"],
    );
  });

  test("streams text piece by piece, with its usage at the end", async () => {
    await using setting = await start(async (exchange) => {
      exchange.beginEvents();
      await exchange.sendEvents(chunk({ role: "assistant", content: "Six" }), chunk({ content: " feet." }));
      await exchange.sendEvents(chunk({}, "stop"), { ...chunk({}), choices: [], usage }, "[DONE]");
      exchange.end();
    });
    const result = streamText({ model: setting.model, prompt: "What is a fathom?" });
    assert.deepEqual(await Array.fromAsync(result.textStream), ["Six", " feet."]);
    assert.deepEqual([await result.finishReason, (await result.usage).totalTokens], ["stop", 7]);
  });

  test("calls a tool and continues with its result, batch and streaming", async () => {
    await using setting = await start(async (exchange) => {
      const { messages, stream } = exchange.json as { messages: { role: string }[]; stream?: boolean };
      const isSecond = messages.some(({ role }) => role === "tool");
      if (stream !== true) {
        exchange.answer(
          isSecond ? completion({ content: "Three." }) : completion({ tool_calls: [addCall] }, "tool_calls"),
        );
        return;
      }
      exchange.beginEvents();
      if (isSecond) await exchange.sendEvents(chunk({ role: "assistant", content: "Three." }), chunk({}, "stop"));
      else {
        const first = { index: 0, ...addCall, function: { name: "add", arguments: '{"a":1,' } };
        await exchange.sendEvents(
          chunk({ role: "assistant", tool_calls: [first] }),
          chunk({ tool_calls: [{ index: 0, function: { arguments: '"b":2}' } }] }),
          chunk({}, "tool_calls"),
        );
      }
      await exchange.sendEvents("[DONE]");
      exchange.end();
    });
    const question = { model: setting.model, prompt: "1 + 2?", tools, stopWhen: isStepCount(3) };
    assert.equal((await generateText(question)).text, "Three.");
    assert.equal(await streamText(question).text, "Three.");
    for (const index of [1, 3]) {
      const told = asked(setting.upstream, index).messages.find(({ role }) => role === "tool");
      assert.equal(told?.content, "3");
    }
  });

  test("gets an object that follows a schema", async () => {
    await using setting = await start((exchange) => exchange.answer(completion({ content: '{"a":1,"b":2}' })));
    const output = Output.object({ schema: numbers });
    const { output: object } = await generateText({ model: setting.model, prompt: "Two numbers?", output });
    assert.deepEqual(object, { a: 1, b: 2 });
    assert.match(
      JSON.stringify(asked(setting.upstream).response_format),
      /"json_schema".*"additionalProperties":false/,
    );
  });

  test("aborts, and the engine stops", async () => {
    await using setting = await start((exchange) => exchange.stall());
    const { signal, abort } = abortable();
    const call = generateText({ model: setting.model, prompt: "Hello?", abortSignal: signal, maxRetries: 0 });
    await setting.upstream.until(() => setting.upstream.exchanges.length === 1, "the engine is asked");
    abort();
    await assert.rejects(call);
    await setting.upstream.until(() => setting.upstream.aborts === 1, "the engine is told to stop");
  });

  test("throws our errors with their status and message, and retries temporary ones", async () => {
    let calls = 0;
    await using setting = await start((exchange) => {
      calls += 1;
      if (calls === 1) exchange.answer({ error: { message: "Slow down." } }, 429, { "retry-after-ms": "10" });
      else exchange.answer(completion({ content: "Hello." }));
    });
    assert.equal((await generateText({ model: setting.model, prompt: "Hello?", maxRetries: 1 })).text, "Hello.");
    const unknown = setting.provider.chatModel("nobody");
    await assert.rejects(
      generateText({ model: unknown, prompt: "Hello?", maxRetries: 0 }),
      (error) =>
        APICallError.isInstance(error) && error.statusCode === 404 && /"nobody" does not exist/.test(error.message),
    );
  });
});

function abortable(): { readonly signal: AbortSignal; abort(): void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

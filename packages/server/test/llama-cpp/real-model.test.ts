/** Gemma 3 270M with real weights: a base model, which was trained to continue text and not to chat, with a template of ours. */
import assert from "node:assert/strict";
import { dirname } from "node:path";
import { describe, test } from "node:test";
import { Check } from "typebox/schema";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { needs } from "../../../../test/support/needs.ts";
import { realModels } from "../../../../test/support/real-models.ts";
import type { ChatCompletion } from "../../src/api/chat-answer.ts";
import type { ChatRequest } from "../../src/api/chat-request.ts";
import { createLlamaCppEngine } from "../../src/engines/llama-cpp/engine.ts";
import type { ChatModel } from "../../src/engines/engine.ts";
import { silentLogger } from "../../src/logger.ts";
import { callOf, contentOf } from "./trial-engine.ts";

const template = `{% for message in messages %}{{ 'Question: ' if message.role == 'user' else 'Answer: ' }}{{ message.content }}
{% endfor %}Answer:`;
/** Shows what an answer looks like. */
const examples = [
  { role: "user", content: "What is the capital of France?" },
  { role: "assistant", content: "Paris." },
  { role: "user", content: "What is the capital of Italy?" },
  { role: "assistant", content: "Rome." },
  { role: "user", content: "What is the capital of Germany?" },
] as const;

describe("a real base model", { skip: needs("gemma-3-270m") }, () => {
  let chat: ChatModel;
  beforeTests(async (stack) => {
    const gemma = {
      file: realModels.gemma,
      gpu: false,
      context_size: 512,
      parallel: 4,
      chat_template: template,
    } as const;
    const engine = await createLlamaCppEngine(
      "local",
      { type: "llama_cpp", models: { gemma } },
      { logger: silentLogger, dataDirectory: dirname(realModels.gemma) },
    );
    stack.defer(() => engine.close());
    chat = engine.chat!("gemma")!;
  });

  const complete = (request: Partial<ChatRequest>): Promise<ChatCompletion> =>
    chat.complete(callOf({ messages: [...examples], temperature: 0, ...request }));

  test("ends its answer where the next question would begin", async () => {
    const completion = await complete({});
    assert.match(contentOf(completion), /Berlin/);
    assert.equal(completion.choices[0]!.finish_reason, "stop");
    assert.ok(completion.usage!.completion_tokens < 50, `${completion.usage!.completion_tokens} tokens`);
  });

  test("stops at a sequence, which is not part of the answer", async () => {
    const completion = await complete({ stop: ["lin"] });
    assert.match(contentOf(completion), /Ber$/);
    assert.equal(completion.choices[0]!.finish_reason, "stop");
  });

  test("keeps to a JSON schema, and calls a tool in the general form", async () => {
    const schema = {
      type: "object",
      properties: {
        city: { type: "string", maxLength: 20 },
        inhabitants: { type: "integer", minimum: 0, maximum: 9_999_999 },
      },
      required: ["city", "inhabitants"],
      additionalProperties: false,
    };
    const response_format = { type: "json_schema" as const, json_schema: { name: "city", schema, strict: true } };
    assert.ok(Check(schema, JSON.parse(contentOf(await complete({ response_format })))));
    const tool = { type: "function" as const, function: { name: "look_up", parameters: schema, strict: true } };
    const { choices } = await complete({ tools: [tool], tool_choice: "required", parallel_tool_calls: false });
    const [call] = choices[0]!.message.tool_calls ?? [];
    assert.ok(call?.type === "function" && call.function.name === "look_up");
    assert.ok(Check(schema, JSON.parse(call.function.arguments)));
  });

  test("reports the probabilities of its tokens", async () => {
    const { choices } = await complete({ max_tokens: 3, logprobs: true, top_logprobs: 3 });
    const tokens = choices[0]!.logprobs!.content!;
    assert.equal(tokens.length, choices[0]!.finish_reason === "length" ? 3 : tokens.length);
    for (const { logprob, top_logprobs: others } of tokens) {
      assert.equal(others.length, 3);
      // The likeliest is chosen at a temperature of 0.
      assert.equal(others[0]!.logprob, logprob);
      assert.ok(logprob <= 0);
    }
  });

  test("answers four callers at a time", async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, () => complete({})));
    for (const answer of answers) assert.match(contentOf(answer), /Berlin/);
  });
});

/** What clients return unchanged comes to the engine as it was. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { assembleMessage, collect } from "../../test/support/assemble-message.ts";
import { translateAnswer } from "../../test/support/translate-answer.ts";
import { propertyRuns } from "../../../../test/support/property-runs.ts";
import type { ChatCompletion, ChatCompletionChunk } from "../api/chat-answer.ts";
import { MessageRequest } from "../api/messages-request.ts";
import { validate } from "../api/validate.ts";
import type { JsonObject } from "../json-object.ts";
import { withoutForeignThinking } from "./foreign-thinking.ts";
import { fromChunks } from "./from-chunks.ts";
import { fromCompletion } from "./from-completion.ts";
import { toChatRequest } from "./to-chat-request.ts";

const request = validate(MessageRequest, {
  model: "m",
  max_tokens: 100,
  thinking: { type: "adaptive" },
  messages: [{ role: "user", content: "Hello" }],
});
const head = { id: "msg_1", created: 1, model: "m" };

function complete(message: JsonObject, asked = request): JsonObject {
  const choice = { index: 0, message: { role: "assistant", content: "Hi", ...message }, finish_reason: "stop" };
  return fromCompletion({ ...head, object: "chat.completion", choices: [choice] } as ChatCompletion, asked);
}

async function stream(deltas: readonly JsonObject[], asked = request): Promise<JsonObject> {
  const chunk = (delta: JsonObject, reason: string | null = null) =>
    ({
      ...head,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, finish_reason: reason }],
    }) as ChatCompletionChunk;
  const chunks = (async function* () {
    for (const delta of deltas) yield chunk(delta);
    yield chunk({ content: "Hi" });
    yield chunk({}, "stop");
  })();
  return assembleMessage(await collect(translateAnswer(fromChunks, chunks, asked)));
}

/** The assistant's message in the next turn's chat request. */
function replayed({ content }: JsonObject): JsonObject {
  const next = validate(MessageRequest, {
    ...request,
    messages: [...request.messages, { role: "assistant", content }, { role: "user", content: "Go on." }],
  });
  return toChatRequest(next).messages[1] as JsonObject;
}

const openRouter = { type: "reasoning.text", format: "anthropic-claude-v1", index: 0 };

describe("reasoning", () => {
  test("of an engine without signatures comes back as its text", async () => {
    const said = { role: "assistant", content: "Hi", reasoning_content: "Let me think." };
    assert.deepEqual(replayed(complete({ reasoning_content: "Let me think." })), said);
    assert.deepEqual(replayed(complete({ reasoning: "Let me think." })), said);
    const streamed = await stream([{ reasoning_content: "Let me" }, { reasoning_content: " think." }]);
    assert.deepEqual(replayed(streamed), said);
  });

  test("of Anthropic, behind chat completions, comes back with its signatures", async () => {
    const details = [
      { type: "reasoning.text", text: "One", signature: "sig-1", format: "anthropic" },
      { type: "reasoning.encrypted", data: "c2VjcmV0", format: "anthropic" },
    ];
    const said = { role: "assistant", content: "Hi", reasoning_details: details };
    assert.deepEqual(replayed(complete({ reasoning_content: "One", reasoning_details: details })), said);
    const streamed = await stream([
      { reasoning_content: "One" },
      { reasoning_details: [details[0]] },
      { reasoning_details: [details[1]] },
    ]);
    assert.deepEqual(replayed(streamed), said);
  });

  test("of other engines comes back in their own form, whole", async () => {
    const whole = { ...openRouter, text: "Let me think.", signature: "sig" };
    const said = { role: "assistant", content: "Hi", reasoning_details: [whole] };
    assert.deepEqual(replayed(complete({ reasoning: "Let me think.", reasoning_details: [whole] })), said);
    const streamed = await stream([
      { reasoning: "Let me", reasoning_details: [{ ...openRouter, text: "Let me" }] },
      { reasoning: " think.", reasoning_details: [{ ...openRouter, text: " think." }] },
      { reasoning_details: [{ ...openRouter, signature: "sig" }] },
    ]);
    assert.deepEqual(replayed(streamed), said);
  });

  test("comes back although the client wants no text of it", async () => {
    const asked = { ...request, thinking: { type: "adaptive", display: "omitted" } };
    const signed = { type: "reasoning.text", text: "Let me think.", signature: "sig", format: "anthropic" };
    for (const more of [{}, { reasoning_details: [signed] }]) {
      const whole = complete({ reasoning_content: "Let me think.", ...more }, asked);
      const streamed = await stream([{ reasoning_content: "Let me think." }, more], asked);
      for (const answer of [whole, streamed]) {
        const [block] = answer["content"] as JsonObject[];
        assert.deepEqual([block?.["type"], block?.["thinking"]], ["thinking", ""]);
        const kept = "reasoning_details" in more ? more : { reasoning_content: "Let me think." };
        assert.deepEqual(replayed(answer), { role: "assistant", content: "Hi", ...kept });
      }
    }
  });

  test("of any form survives", () => {
    const detail = fc.record({
      type: fc.constantFrom("reasoning.text", "reasoning.summary", "reasoning.encrypted"),
      format: fc.constantFrom("openai-responses-v1", "google-gemini-v1", "amazon_bedrock"),
      text: fc.option(fc.string(), { nil: undefined }),
      data: fc.option(fc.string(), { nil: undefined }),
      id: fc.option(fc.string(), { nil: undefined }),
    });
    const details = fc.array(detail, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(details, fc.string(), (reasoning, text) => {
        const back = replayed(complete({ reasoning_content: text, reasoning_details: reasoning }));
        assert.deepEqual(back["reasoning_details"], JSON.parse(JSON.stringify(reasoning)));
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test("is left out for an upstream of Anthropic that did not sign it", () => {
    const own = { type: "thinking", thinking: "Own", signature: "sig" };
    const [foreign] = complete({ reasoning_content: "Foreign" })["content"] as JsonObject[];
    const text = { type: "text", text: "Hi" };
    const conversation = validate(MessageRequest, {
      ...request,
      messages: [
        ...request.messages,
        { role: "assistant", content: [foreign, own, text] },
        { role: "user", content: "And?" },
        { role: "assistant", content: [foreign] },
        { role: "user", content: "Go on." },
      ],
    });
    const left = withoutForeignThinking(conversation);
    assert.deepEqual(left.messages, [
      ...request.messages,
      { role: "assistant", content: [own, text] },
      { role: "user", content: "And?" },
      { role: "user", content: "Go on." },
    ]);
    const natural = { ...request, messages: [{ role: "user" as const, content: "What is sounding-board?" }] };
    assert.deepEqual(withoutForeignThinking(natural), {});
  });
});

describe("what an engine needs back with a tool call", () => {
  const extra = { google: { thought_signature: "c2lnbmF0dXJl/+=" } };
  const call = { id: "call_1", type: "function", function: { name: "read", arguments: "{}" }, extra_content: extra };

  test("travels in the call's ID", async () => {
    const whole = complete({ tool_calls: [call] });
    const streamed = await stream([{ tool_calls: [{ index: 0, ...call }] }]);
    for (const answer of [whole, streamed]) {
      const { id } = (answer["content"] as JsonObject[]).find(({ type }) => type === "tool_use")!;
      assert.match(String(id), /^[\w-]+$/, "Anthropic accepts the ID, too");
      assert.deepEqual(replayed(answer)["tool_calls"], [call]);
      const result = validate(MessageRequest, {
        ...request,
        messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "ok" }] }],
      });
      assert.equal(toChatRequest(result).messages[0]?.tool_call_id, "call_1");
    }
  });

  test("is not taken from IDs of others", () => {
    const content = [{ type: "tool_use", id: "a__sounding_b", name: "read", input: {} }];
    const [back] = replayed({ content })["tool_calls"] as JsonObject[];
    assert.deepEqual(back, { id: "a__sounding_b", type: "function", function: { name: "read", arguments: "{}" } });
  });
});

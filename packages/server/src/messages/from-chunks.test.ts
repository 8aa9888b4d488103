import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { assembleMessage, collect } from "../../test/support/assemble-message.ts";
import { translateAnswer } from "../../test/support/translate-answer.ts";
import { cut, interleave, places } from "../../test/support/cut-answer.ts";
import { propertyRuns } from "../../../../test/support/property-runs.ts";
import type { ChatCompletion, ChatCompletionChunk, ChatDelta, FinishReason } from "../api/chat-answer.ts";
import type { MessageRequest } from "../api/messages-request.ts";
import { MessageEvent } from "../api/messages-answer.ts";
import { satisfies } from "../api/validate.ts";
import type { JsonObject } from "../json-object.ts";
import { fromChunks } from "./from-chunks.ts";
import { fromCompletion } from "./from-completion.ts";

const head = { id: "msg_1", created: 1, model: "assistant" };
const request: MessageRequest = {
  model: "assistant",
  max_tokens: 10,
  messages: [{ role: "user", content: "Hello" }],
  thinking: { type: "adaptive" },
  stop_sequences: ["END"],
};

function chunk(delta: ChatDelta & JsonObject, reason: FinishReason | null = null, more = {}): ChatCompletionChunk {
  return { ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: reason, ...more }] };
}

function usageChunk(usage: ChatCompletion["usage"]): ChatCompletionChunk {
  return { ...head, object: "chat.completion.chunk", choices: [], ...(usage === undefined ? {} : { usage }) };
}

async function eventsOf(chunks: readonly ChatCompletionChunk[], asked = request) {
  const source = (async function* () {
    yield* structuredClone(chunks);
  })();
  return collect(translateAnswer(fromChunks, source, asked));
}

async function messageOf(chunks: readonly ChatCompletionChunk[], asked = request) {
  const events = await eventsOf(chunks, asked);
  for (const { data } of events) assert.ok(satisfies(MessageEvent, JSON.parse(data)), data);
  return assembleMessage(events);
}

const call = (index: number, id: string, name: string) => ({
  tool_calls: [{ index, id, type: "function" as const, function: { name, arguments: "" } }],
});
const piece = (index: number, json: string) => ({ tool_calls: [{ index, function: { arguments: json } }] });

const input = fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 2 }), {
  maxKeys: 3,
  noNullPrototype: true,
});
const answers = fc.record({
  reasoning: fc.string({ maxLength: 20 }),
  text: fc.string({ maxLength: 20, unit: "binary" }),
  calls: fc.array(fc.record({ input, places }), { maxLength: 4 }),
  reasoningPlaces: places,
  textPlaces: places,
  /** In which order the pieces of the calls arrive. */
  order: fc.infiniteStream(fc.nat()),
  usage: fc.option(
    fc.record({ prompt: fc.nat(1000), cached: fc.nat(1000), written: fc.nat(100), completion: fc.nat(1000) }),
  ),
});

describe("a stream of chat chunks as the events of a message", () => {
  test("has the same content as the whole completion, however it is cut and mixed, and no blocks overlap", async () => {
    await fc.assert(
      fc.asyncProperty(answers, async ({ calls, order, reasoning, reasoningPlaces, text, textPlaces, usage }) => {
        const toolCalls = calls.map((each, index) => ({
          id: `call_${index}`,
          type: "function" as const,
          function: { name: `tool_${index}`, arguments: JSON.stringify(each.input) },
        }));
        const finish = calls.length > 0 ? ("tool_calls" as const) : ("stop" as const);
        const counts = usage === null ? undefined : toUsage(usage);
        const completion: ChatCompletion = {
          ...head,
          object: "chat.completion",
          choices: [
            {
              index: 0,
              message: {
                role: "assistant",
                content: text === "" ? null : text,
                ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
                tool_calls: toolCalls,
              },
              finish_reason: finish,
            },
          ],
          ...(counts === undefined ? {} : { usage: counts }),
        };
        const queues = calls.map((each, index) => [
          call(index, `call_${index}`, `tool_${index}`),
          ...cut(JSON.stringify(each.input), each.places).map((json) => piece(index, json)),
        ]);
        const chunks = [
          chunk({ role: "assistant", content: "" }),
          ...cut(reasoning, reasoningPlaces).map((each) => chunk({ reasoning_content: each })),
          ...cut(text, textPlaces).map((each) => chunk({ content: each })),
          ...interleave(queues, order[Symbol.iterator]()).map((delta) => chunk(delta)),
          chunk({}, finish),
          ...(counts === undefined ? [] : [usageChunk(counts)]),
        ];
        assert.deepEqual(await messageOf(chunks), fromCompletion(completion, request));
      }),
      { numRuns: propertyRuns(600) },
    );
  });

  test("begins with message_start, and with the usage as far as it is known", async () => {
    const events = await eventsOf([chunk({ content: "Hi" }), chunk({}, "stop")]);
    const start = JSON.parse(events[0]!.data) as { message: { usage: JsonObject } };
    assert.ok(Number(start.message.usage["input_tokens"]) > 0, "an estimate, not 0");
    const counted = await eventsOf([
      { ...chunk({ content: "Hi" }), usage: { prompt_tokens: 90, completion_tokens: 1, total_tokens: 91 } },
      chunk({}, "stop"),
    ]);
    const known = JSON.parse(counted[0]!.data) as { message: { usage: JsonObject } };
    assert.equal(known.message.usage["input_tokens"], 90);
    assert.deepEqual(events.filter(({ name }) => name === "message_start").length, 1);
  });

  test("yields nothing before the first chunk, so that another engine can take the call", async () => {
    const failing: AsyncIterable<ChatCompletionChunk> = {
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("refused")) }),
    };
    const events = translateAnswer(fromChunks, failing, request)[Symbol.asyncIterator]();
    await assert.rejects(events.next(), /refused/);
  });

  test("counts cached tokens apart from the others", async () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 7,
      total_tokens: 107,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
      completion_tokens_details: { reasoning_tokens: 5 },
    };
    const message = await messageOf([chunk({ content: "Hi" }), chunk({}, "stop"), usageChunk(usage)]);
    assert.deepEqual(message.usage, {
      input_tokens: 10,
      cache_read_input_tokens: 60,
      cache_creation_input_tokens: 30,
      output_tokens: 7,
      output_tokens_details: { thinking_tokens: 5 },
    });
  });

  test("tells exactly why it ended", async () => {
    const ended = async (reason: FinishReason, more = {}, delta = {}) => {
      const { stop_reason: stop, stop_sequence: sequence } = await messageOf([
        chunk({ content: "x", ...delta }),
        chunk({}, reason, more),
      ]);
      return [stop, sequence];
    };
    assert.deepEqual(await ended("stop"), ["end_turn", null]);
    assert.deepEqual(await ended("stop", { matched_stop: "END" }), ["stop_sequence", "END"]);
    assert.deepEqual(await ended("stop", { matched_stop: 2 }), ["end_turn", null]);
    assert.deepEqual(await ended("length"), ["max_tokens", null]);
    assert.deepEqual(await ended("content_filter"), ["refusal", null]);
    assert.deepEqual(await ended("tool_calls", {}, call(0, "a", "b")), ["tool_use", null]);
  });

  test("shows a refusal as text, as its stop reason and as its explanation", async () => {
    const message = await messageOf([chunk({ refusal: "I can" }), chunk({ refusal: "not." }), chunk({}, "stop")]);
    assert.deepEqual(message.content, [{ type: "text", text: "I cannot." }]);
    assert.equal(message["stop_reason"], "refusal");
    assert.deepEqual(message["stop_details"], { type: "refusal", category: null, explanation: "I cannot." });
  });

  test("gives Anthropic's thinking blocks back as they were, each with its own signature", async () => {
    const detail = (text: string, signature: string) => ({
      reasoning_details: [{ type: "reasoning.text", text, signature, format: "anthropic" }],
    });
    const hidden = { type: "reasoning.encrypted", data: "c2VjcmV0", format: "anthropic" };
    const message = await messageOf([
      chunk({ reasoning_content: "One" }),
      chunk(detail("One", "sig-1")),
      chunk({ reasoning_details: [hidden] }),
      chunk({ reasoning_content: "Two" }),
      chunk(detail("Two", "sig-2")),
      chunk({ content: "Hi" }),
      chunk({}, "stop"),
    ]);
    assert.deepEqual(message.content, [
      { type: "thinking", thinking: "One", signature: "sig-1" },
      { type: "redacted_thinking", data: "c2VjcmV0" },
      { type: "thinking", thinking: "Two", signature: "sig-2" },
      { type: "text", text: "Hi" },
    ]);
  });

  test("has no thinking for a client that asked for none", async () => {
    const { thinking: _, ...plain } = request;
    const chunks = [chunk({ reasoning_content: "Hm" }), chunk({ content: "Hi" }), chunk({}, "stop")];
    assert.deepEqual((await messageOf(chunks, plain)).content, [{ type: "text", text: "Hi" }]);
    const disabled = { ...request, thinking: { type: "disabled" } };
    assert.deepEqual((await messageOf(chunks, disabled)).content, [{ type: "text", text: "Hi" }]);
  });

  test("lets text wait that comes within a tool call", async () => {
    const message = await messageOf([
      chunk(call(0, "a", "read")),
      chunk(piece(0, '{"path":')),
      chunk({ content: "Reading." }),
      chunk(piece(0, '"x"}')),
      chunk({}, "tool_calls"),
    ]);
    assert.deepEqual(message.content, [
      { type: "tool_use", id: "a", name: "read", input: { path: "x" } },
      { type: "text", text: "Reading." },
    ]);
  });

  test("fails for arguments that go on after their end", async () => {
    const chunks = [chunk(call(0, "a", "read")), chunk(piece(0, "{}")), chunk(piece(0, '{"b":1}')), chunk({}, "stop")];
    await assert.rejects(eventsOf(chunks), { code: "upstream_failed" });
  });

  test("fails when more waits for a tool call than the limit allows", async () => {
    const long = "x".repeat(1_048_576);
    const source = (async function* () {
      yield chunk(call(0, "a", "read"));
      for (;;) yield chunk({ content: long });
    })();
    await assert.rejects(collect(translateAnswer(fromChunks, source, request)), { code: "upstream_failed" });
  });

  test("fails for an endless reasoning", async () => {
    const source = (async function* () {
      for (;;) yield chunk({ reasoning_content: "x".repeat(1_048_576) });
    })();
    await assert.rejects(collect(translateAnswer(fromChunks, source, request)), { code: "upstream_failed" });
  });
});

describe("a completion as a message", () => {
  const completion = (json: string, reason: FinishReason): ChatCompletion => ({
    ...head,
    object: "chat.completion",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "a", type: "function", function: { name: "read", arguments: json } }],
        },
        finish_reason: reason,
      },
    ],
  });

  test("fails for arguments that are not JSON, except where the limit on tokens cut them", () => {
    assert.throws(() => fromCompletion(completion('{"path":', "tool_calls"), request), { code: "upstream_failed" });
    assert.throws(() => fromCompletion(completion("[1]", "tool_calls"), request), { code: "upstream_failed" });
    const { content, stop_reason: reason } = fromCompletion(completion('{"path":', "length"), request);
    assert.deepEqual(content, [{ type: "tool_use", id: "a", name: "read", input: {} }]);
    assert.equal(reason, "max_tokens");
  });

  test("takes missing arguments for an empty object", () => {
    const { content } = fromCompletion(completion("", "tool_calls"), request);
    assert.deepEqual(content, [{ type: "tool_use", id: "a", name: "read", input: {} }]);
  });
});

function toUsage({
  cached,
  completion,
  prompt,
  written,
}: Record<"prompt" | "cached" | "written" | "completion", number>) {
  const total = prompt + cached + written;
  return {
    prompt_tokens: total,
    completion_tokens: completion,
    total_tokens: total + completion,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
  };
}

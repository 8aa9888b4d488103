import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { collect } from "../../test/support/assemble-message.ts";
import { cut, interleave, places } from "../../test/support/cut-answer.ts";
import { assembleResponse } from "../../test/support/assemble-response.ts";
import { translateAnswer } from "../../test/support/translate-answer.ts";
import { propertyRuns } from "../../../../test/support/property-runs.ts";
import type { ChatCompletion, ChatCompletionChunk, ChatDelta, FinishReason } from "../api/chat-answer.ts";
import { ResponseRequest } from "../api/responses-request.ts";
import { validate } from "../api/validate.ts";
import type { JsonObject } from "../json-object.ts";
import { fromChunks } from "./from-chunks.ts";
import { fromCompletion } from "./from-completion.ts";
import { createReader, readAnswer } from "./read-answer.ts";
import { toChatRequest } from "./to-chat-request.ts";

const head = { id: "resp_1", created: 1, model: "assistant" };
const request = validate(ResponseRequest, {
  model: "assistant",
  input: "Hello",
  tools: [
    { type: "function", name: "tool", parameters: { type: "object" } },
    { type: "custom", name: "free" },
    { type: "namespace", name: "files", tools: [{ type: "function", name: "read" }] },
  ],
});

function chunk(delta: ChatDelta & JsonObject, reason: FinishReason | null = null): ChatCompletionChunk {
  return { ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: reason }] };
}

async function eventsOf(chunks: readonly ChatCompletionChunk[]) {
  const source = (async function* () {
    yield* structuredClone(chunks);
  })();
  return collect(translateAnswer(fromChunks, source, request));
}

/** Without the time at which it was assembled. */
function timeless(response: JsonObject): JsonObject {
  return { ...response, completed_at: undefined };
}

const free = fc.string({ maxLength: 20, unit: "binary" }).map((input) => input.toWellFormed());
const calls = fc.oneof(
  fc.record({
    name: fc.constantFrom("tool", "files__read", "not_a_tool_of_the_request"),
    input: fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 2 }), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
    places,
  }),
  fc.record({ name: fc.constant("free"), input: fc.record({ input: free }, { noNullPrototype: true }), places }),
);
const answers = fc.record({
  reasoning: fc.string({ maxLength: 20 }),
  signature: fc.option(fc.string({ minLength: 1, maxLength: 5 }), { nil: undefined }),
  text: fc.string({ maxLength: 20, unit: "binary" }),
  refusal: fc.oneof({ weight: 4, arbitrary: fc.constant("") }, { weight: 1, arbitrary: fc.string({ maxLength: 9 }) }),
  calls: fc.array(calls, { maxLength: 4 }),
  finish: fc.constantFrom("stop", "length", "content_filter"),
  reasoningPlaces: places,
  textPlaces: places,
  /** In which order the pieces of the calls arrive. */
  order: fc.infiniteStream(fc.nat()),
  usage: fc.option(fc.record({ prompt: fc.nat(1000), cached: fc.nat(1000), completion: fc.nat(1000) }), {
    nil: undefined,
  }),
});
type Answer = typeof answers extends fc.Arbitrary<infer Value> ? Value : never;

function finishOf({ calls: called, finish }: Answer): FinishReason {
  return finish === "stop" && called.length > 0 ? "tool_calls" : finish;
}

function usageOf({ usage }: Answer): Pick<ChatCompletion, "usage"> {
  if (usage === undefined) return {};
  const { prompt, cached, completion } = usage;
  return {
    usage: {
      prompt_tokens: prompt + cached,
      completion_tokens: completion,
      total_tokens: prompt + cached + completion,
      prompt_tokens_details: { cached_tokens: cached },
    },
  };
}

function detailsOf({ reasoning, signature }: Answer) {
  if (signature === undefined) return {};
  return { reasoning_details: [{ type: "reasoning.text", text: reasoning, signature }] };
}

function messageOf(answer: Answer) {
  const { calls: called, reasoning, refusal, text } = answer;
  const toolCalls = called.map(({ input, name }, index) => ({
    id: `call_${index}`,
    type: "function" as const,
    function: { name, arguments: JSON.stringify(input) },
  }));
  return {
    role: "assistant" as const,
    content: text === "" ? null : text,
    ...(refusal === "" ? {} : { refusal }),
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...detailsOf(answer),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
  };
}

function completionOf(answer: Answer): ChatCompletion {
  const choice = { index: 0, message: messageOf(answer), finish_reason: finishOf(answer) };
  return { ...head, object: "chat.completion", choices: [choice], ...usageOf(answer) };
}

function chunksOf(answer: Answer): ChatCompletionChunk[] {
  const { calls: called, order, reasoning, reasoningPlaces, refusal, text, textPlaces } = answer;
  const queues = called.map(({ input, name, places: at }, index) => [
    { tool_calls: [{ index, id: `call_${index}`, type: "function" as const, function: { name, arguments: "" } }] },
    ...cut(JSON.stringify(input), at).map((json) => ({ tool_calls: [{ index, function: { arguments: json } }] })),
  ]);
  return [
    chunk({ role: "assistant", content: "" }),
    ...(reasoning === "" ? [] : cut(reasoning, reasoningPlaces)).map((each) => chunk({ reasoning_content: each })),
    ...(answer.signature === undefined ? [] : [chunk(detailsOf(answer))]),
    ...cut(text, textPlaces).map((each) => chunk({ content: each })),
    ...(refusal === "" ? [] : [chunk({ refusal })]),
    ...interleave(queues, order[Symbol.iterator]()).map((delta) => chunk(delta)),
    chunk({}, finishOf(answer)),
    { ...head, object: "chat.completion.chunk", choices: [], ...usageOf(answer) },
  ];
}

describe("a stream of chat chunks as the events of a response", () => {
  test("has the same output as the whole completion, however it is cut and mixed", async () => {
    await fc.assert(
      fc.asyncProperty(answers, async (answer) => {
        const streamed = assembleResponse(await eventsOf(chunksOf(answer)));
        assert.deepEqual(timeless(streamed), timeless(fromCompletion(completionOf(answer), request)));
      }),
      { numRuns: propertyRuns(600) },
    );
  });

  test("is read by telemetry as the whole response is", async () => {
    await fc.assert(
      fc.asyncProperty(answers, async (answer) => {
        const read = createReader();
        const chunks = (await eventsOf(chunksOf(answer))).map(read).filter((each) => each !== undefined);
        const deltas = chunks.map(({ choices }) => choices[0]!.delta);
        const joined = (member: "content" | "refusal"): string => deltas.map((delta) => delta[member] ?? "").join("");
        const { id, model, choices, usage } = readAnswer(fromCompletion(completionOf(answer), request));
        const { finish_reason: reason, message } = choices[0]!;
        assert.deepEqual([chunks[0]!.id, chunks[0]!.model], [id, model]);
        assert.deepEqual([joined("content"), joined("refusal")], [message.content ?? "", message.refusal ?? ""]);
        const names = deltas
          .flatMap((delta) => delta.tool_calls ?? [])
          .flatMap(({ function: called }) => called?.name ?? []);
        assert.deepEqual(
          names,
          (message.tool_calls ?? []).map(({ function: called }) => called.name),
        );
        assert.deepEqual([chunks.at(-1)!.choices[0]!.finish_reason, chunks.at(-1)!.usage], [reason, usage]);
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  test("is the same message when the client sends its items back", () => {
    fc.assert(
      fc.property(answers, (answer) => {
        const { output } = fromCompletion(completionOf(answer), request) as { output: JsonObject[] };
        const input = [{ role: "user", content: "Hello" }, ...output, { role: "user", content: "Go on." }];
        const { messages } = toChatRequest(validate(ResponseRequest, { ...request, input }));
        const { content, refusal, ...rest } = messageOf(answer);
        const parts = [
          ...(content === null ? [] : [{ type: "text", text: content }]),
          ...(refusal === undefined ? [] : [{ type: "refusal", refusal }]),
        ];
        // The details have the reasoning, too.
        const { reasoning_content: _, ...withDetails } = rest;
        assert.equal(messages.length, 3);
        assert.deepEqual(messages[1], {
          ...(answer.signature === undefined ? rest : withDetails),
          content: refusal === undefined && content !== null ? content : parts.length > 0 ? parts : emptyOf(answer),
        });
      }),
      { numRuns: propertyRuns(600) },
    );
  });

  test("yields nothing before the first chunk, so that another engine can take the call", async () => {
    const failing: AsyncIterable<ChatCompletionChunk> = {
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("refused")) }),
    };
    await assert.rejects(translateAnswer(fromChunks, failing, request)[Symbol.asyncIterator]().next(), /refused/);
  });

  test("keeps reasoning between tool calls where it was", async () => {
    const call = (index: number) => ({
      tool_calls: [
        { index, id: `call_${index}`, type: "function" as const, function: { name: "tool", arguments: "{}" } },
      ],
    });
    const response = assembleResponse(
      await eventsOf([
        chunk({ reasoning_content: "One" }),
        chunk(call(0)),
        chunk({ reasoning_content: "Two" }),
        chunk(call(1)),
        chunk({ content: "Hi" }),
        chunk({}, "tool_calls"),
      ]),
    );
    const types = (response["output"] as JsonObject[]).map(({ type }) => type);
    assert.deepEqual(types, ["reasoning", "function_call", "reasoning", "function_call", "message"]);
  });

  test("fails for an endless item", async () => {
    for (const delta of [
      { reasoning_content: "x".repeat(1_048_576) },
      { content: "x".repeat(1_048_576) },
      { tool_calls: [{ index: 0, function: { name: "tool", arguments: "x".repeat(1_048_576) } }] },
    ]) {
      const source = (async function* () {
        for (;;) yield chunk(delta);
      })();
      await assert.rejects(
        async () => {
          for await (const event of translateAnswer(fromChunks, source, request)) assert.ok(event.data.length > 0);
        },
        { code: "upstream_failed" },
      );
    }
  });
});

/** An answer without anything is an empty text, unless it calls tools. */
function emptyOf({ calls: called }: Answer): string | null {
  return called.length > 0 ? null : "";
}

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import * as fc from "fast-check";
import { propertyRuns } from "../../../../../test/support/property-runs.ts";
import type { ChatCompletionChunk } from "../../api/chat-answer.ts";
import { toChoice, toFinishReason } from "./response.ts";
import { createAnthropic } from "./anthropic.ts";
import { toChunks } from "./chunks.ts";

const vendor = createAnthropic({
  type: "anthropic",
  api_key: "k",
  base_url: "http://127.0.0.1:9",
  max_choices: 1,
  max_connections: 1,
  connect_timeout_ms: 1,
  first_byte_timeout_ms: 1,
  idle_timeout_ms: 1,
  total_timeout_ms: 1,
});
const head = { id: "a", created: 1, model: "m" };
const usage: LanguageModelV4Usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 2, text: 2, reasoning: undefined },
};
const stopped: LanguageModelV4FinishReason = { unified: "stop", raw: "end_turn" };

async function* from(parts: readonly LanguageModelV4StreamPart[]): AsyncGenerator<LanguageModelV4StreamPart> {
  yield* parts;
}

async function translate(parts: readonly LanguageModelV4StreamPart[]): Promise<ChatCompletionChunk[]> {
  const chunks: ChatCompletionChunk[] = [];
  for await (const chunk of toChunks(from(parts), head, { vendor, onUnused: () => {} })) chunks.push(chunk);
  return chunks;
}

const pieces = fc.array(fc.string({ unit: "grapheme" }), { maxLength: 4 });
const block = fc.oneof(
  fc.record({ kind: fc.constant("text" as const), pieces }),
  fc.record({ kind: fc.constant("reasoning" as const), pieces }),
  fc.record({ kind: fc.constant("tool" as const), input: fc.json({ maxDepth: 2 }), streamed: fc.boolean() }),
);
type Block = typeof block extends fc.Arbitrary<infer T> ? T : never;

/** A block as the adapters stream it. */
function toParts(each: Block, index: number): LanguageModelV4StreamPart[] {
  const id = String(index);
  if (each.kind === "tool") {
    const call = { type: "tool-call" as const, toolCallId: id, toolName: `f${id}`, input: each.input };
    if (!each.streamed) return [call];
    const middle = each.input.length >> 1;
    return [
      { type: "tool-input-start", id, toolName: `f${id}` },
      { type: "tool-input-delta", id, delta: each.input.slice(0, middle) },
      { type: "tool-input-delta", id, delta: each.input.slice(middle) },
      { type: "tool-input-end", id },
      call,
    ];
  }
  const kind = each.kind;
  return [
    { type: `${kind}-start`, id },
    ...each.pieces.map((delta) => ({ type: `${kind}-delta` as const, id, delta })),
    { type: `${kind}-end`, id },
  ];
}

/** The same block as the adapters return it in a batch. */
function toContent(each: Block, index: number): LanguageModelV4Content {
  if (each.kind !== "tool") return { type: each.kind, text: each.pieces.join("") };
  return { type: "tool-call", toolCallId: String(index), toolName: `f${index}`, input: each.input };
}

function join(chunks: readonly ChatCompletionChunk[]) {
  const deltas = chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.delta));
  const calls: { id: string; name: string; arguments: string }[] = [];
  for (const piece of deltas.flatMap((delta) => delta.tool_calls ?? [])) {
    const call = (calls[piece.index] ??= { id: "", name: "", arguments: "" });
    call.id += piece.id ?? "";
    call.name += piece.function?.name ?? "";
    call.arguments += piece.function?.arguments ?? "";
  }
  return {
    content: deltas.map((delta) => delta.content ?? "").join(""),
    reasoning: deltas.map((delta) => (delta as { reasoning_content?: string }).reasoning_content ?? "").join(""),
    calls,
  };
}

describe("a stream's chunks", () => {
  test("add up to the batch answer, however it was split", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(block, { maxLength: 6 }), async (blocks) => {
        const finish = { type: "finish" as const, finishReason: stopped, usage };
        const chunks = await translate([...blocks.flatMap(toParts), finish]);
        const { message } = toChoice(
          { content: blocks.map(toContent), finishReason: stopped, usage, warnings: [] },
          vendor,
        );
        const { content, reasoning, calls } = join(chunks);
        assert.equal(content, message.content ?? "");
        assert.equal(reasoning, (message as { reasoning_content?: string }).reasoning_content ?? "");
        assert.deepEqual(
          calls,
          (message.tool_calls ?? []).map((call) => ({ id: call.id, ...call.function })),
        );
        assert.equal(chunks[0]?.choices[0]?.delta.role, "assistant");
        assert.equal(chunks.filter((chunk) => chunk.choices[0]?.finish_reason === "stop").length, 1);
        assert.equal(chunks.at(-1)?.usage?.total_tokens, 5);
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  test("take their head from the vendor, and keep it", async () => {
    const chunks = await translate([
      { type: "stream-start", warnings: [] },
      { type: "response-metadata", id: "v1", modelId: "m-1", timestamp: new Date(5_000) },
      { type: "text-start", id: "0" },
      { type: "response-metadata", id: "v2" },
      { type: "text-delta", id: "0", delta: "Hi" },
      { type: "finish", finishReason: stopped, usage },
    ]);
    for (const chunk of chunks) assert.deepEqual([chunk.id, chunk.created, chunk.model], ["v1", 5, "m-1"]);
  });

  test("stay under 1 MiB, and never split a character", async () => {
    const text = `x${"\u{1F30D}".repeat(200_000)}${"\u0001".repeat(200_000)}`;
    const input = JSON.stringify({ text });
    const chunks = await translate([
      { type: "reasoning-delta", id: "0", delta: text },
      { type: "text-delta", id: "1", delta: text },
      { type: "tool-call", toolCallId: "2", toolName: "f", input },
      { type: "finish", finishReason: stopped, usage },
    ]);
    const { content, reasoning, calls } = join(chunks);
    assert.ok(content === text && reasoning === text && calls[0]?.arguments === input);
    for (const chunk of chunks) {
      assert.ok(Buffer.byteLength(JSON.stringify(chunk)) < 1_048_576);
      assert.ok(chunk.choices.every(({ delta }) => delta.content?.isWellFormed() ?? true));
    }
  });

  test("omit what the vendor's own tools did", async () => {
    const call = { type: "tool-call" as const, toolCallId: "s", toolName: "search", input: "{}" };
    const chunks = await translate([
      { type: "tool-input-start", id: "s", toolName: "search", providerExecuted: true },
      { type: "tool-input-delta", id: "s", delta: "{}" },
      { ...call, providerExecuted: true },
      { type: "text-delta", id: "0", delta: "Hi" },
      { type: "finish", finishReason: stopped, usage },
    ]);
    assert.deepEqual(join(chunks), { content: "Hi", reasoning: "", calls: [] });
  });
});

describe("a finish reason", () => {
  const cases = [
    { unified: "stop", raw: "end_turn", expected: "stop" },
    { unified: "length", raw: "max_tokens", expected: "length" },
    { unified: "content-filter", raw: "SAFETY", expected: "content_filter" },
    { unified: "tool-calls", raw: "tool_use", expected: "tool_calls" },
    { unified: "other", raw: "model_context_window_exceeded", expected: "length" },
    { unified: "other", raw: "compaction", expected: "stop" },
    { unified: "other", raw: undefined, expected: undefined },
    { unified: "interrupted", raw: undefined, expected: undefined },
    { unified: "interrupted", raw: "CONTINUATION", expected: undefined },
    { unified: "error", raw: undefined, expected: undefined },
    { unified: "other", raw: "malformed_tool_use", expected: undefined },
  ] as const;
  for (const { unified, raw, expected } of cases) {
    test(`${unified} (${raw ?? "without the vendor's word"}) is ${expected ?? "a failure"}`, () => {
      const read = () => toFinishReason({ unified, raw }, vendor);
      if (expected === undefined) assert.throws(read, { code: "upstream_failed" });
      else assert.equal(read(), expected);
    });
  }
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { ChatCompletionChunk } from "../../api/chat-answer.ts";
import { satisfies } from "../../api/validate.ts";
import { AppError } from "../../errors.ts";
import { ChunkNormalizer } from "./normalize-chunks.ts";

const head = { id: "c", object: "chat.completion.chunk", created: 5, model: "m" };
const chunk = (delta: unknown, more = {}) => ({
  ...head,
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
});

/** What clients receive for these events; the stream ends with [DONE] by default. */
function normalize(events: readonly unknown[], isDone = true): ChatCompletionChunk[] {
  const chunks: ChatCompletionChunk[] = [];
  const normalizer = new ChunkNormalizer("fallback-model", (each) => chunks.push(each));
  for (const event of events) normalizer.accept(JSON.stringify(event));
  normalizer.end(isDone);
  return chunks;
}

describe("ChunkNormalizer", () => {
  test("passes good chunks through unchanged, including unknown members", () => {
    const events = [
      chunk({ role: "assistant", content: "", reasoning: "Hm" }),
      { ...chunk({ content: "Hi" }, { logprobs: null, stop_reason: null }), obfuscation: "xx", usage: null },
      chunk({}, { finish_reason: "stop", stop_reason: 5, content_filter_results: {} }),
      { ...head, choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }, timings: { n: 1 } },
    ];
    assert.deepEqual(normalize(events), events);
  });

  test("gives all chunks the identity of the first", () => {
    const other = { ...chunk({ content: "b" }), id: "d", created: 6, model: "n" };
    for (const { id, created, model } of normalize([chunk({ content: "a" }), other])) {
      assert.deepEqual({ id, created, model }, { id: "c", created: 5, model: "m" });
    }
    const [made] = normalize([{ choices: [{ delta: { content: "a" }, finish_reason: "stop" }] }], false);
    assert.match(made?.id ?? "", /^chatcmpl-/);
    assert.equal(made?.model, "fallback-model");
  });

  test("emits nothing more for a finished choice, unless there is new content", () => {
    const end = chunk({}, { finish_reason: "stop" });
    const filtered = chunk({}, { content_filter_results: { hate: 1 } });
    assert.deepEqual(normalize([end, chunk({ role: "assistant", content: "" }), end, filtered]), [end, filtered]);
  });

  test("finishes several choices independently", () => {
    const of = (index: number, delta: unknown, reason: string | null = null) => ({
      ...head,
      choices: [{ index, delta, finish_reason: reason }],
    });
    const calls = { tool_calls: [{ index: 0, id: "t", type: "function", function: { name: "f", arguments: "" } }] };
    const chunks = normalize([of(0, { content: "a" }), of(1, calls), of(2, { content: "b" }, "length")]);
    const reasons = chunks.flatMap(({ choices }) => choices.map((each) => [each.index, each.finish_reason]));
    assert.deepEqual(reasons.slice(2), [
      [2, "length"],
      [0, "stop"],
      [1, "tool_calls"],
    ]);
    assert.throws(() => normalize([of(0, { content: "a" }, "stop"), of(1, calls)], false), { code: "upstream_failed" });
  });

  test("turns any events into valid chunks or an engine error", () => {
    const names = ["choices", "delta", "content", "tool_calls", "function", "name", "arguments", "id", "index", "role"];
    names.push("error", "usage", "total_tokens", "logprobs", "token", "logprob", "finish_reason", "created", "refusal");
    const anything = fc.anything({
      key: fc.constantFrom(...names),
      values: [fc.jsonValue({ maxDepth: 0 }), fc.constant("x"), fc.nat({ max: 9 })],
      maxDepth: 4,
      maxKeys: 5,
      withNullPrototype: false,
    });
    const event = fc.oneof(
      anything,
      anything.map((delta) => chunk(delta)),
      anything.map((choice) => ({ ...head, choices: [choice] })),
      fc.tuple(anything, anything).map(([calls, usage]) => ({ ...chunk({ tool_calls: [calls] }), usage })),
    );
    let good = 0;
    fc.assert(
      fc.property(fc.array(event, { maxLength: 4 }), (events) => {
        try {
          for (const each of normalize(JSON.parse(JSON.stringify(events)) as unknown[])) {
            assert.ok(satisfies(ChatCompletionChunk, JSON.parse(JSON.stringify(each))), JSON.stringify(each));
          }
          good++;
        } catch (error) {
          assert.ok(error instanceof AppError, String(error));
        }
      }),
      { numRuns: 2_000 },
    );
    assert.ok(good > 100, `only ${good} streams were good`);
  });
});

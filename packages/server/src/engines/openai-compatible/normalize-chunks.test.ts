import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { propertyRuns } from "../../../../../test/support/property-runs.ts";
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
  for (const event of events) normalizer.accept({ type: "message", data: JSON.stringify(event) });
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

  test("emits a finish reason last, and nothing more for a finished choice unless there is new content", () => {
    const end = chunk({}, { finish_reason: "stop" });
    const filtered = chunk({}, { content_filter_results: { hate: 1 } });
    assert.deepEqual(normalize([end, chunk({ role: "assistant", content: "" }), end, filtered]), [filtered, end]);
  });

  test("finishes several choices independently", () => {
    const of = (index: number, delta: unknown, reason: string | null = null) => ({
      ...head,
      choices: [{ index, delta, finish_reason: reason }],
    });
    const calls = { tool_calls: [{ index: 0, id: "t", type: "function", function: { name: "f", arguments: "" } }] };
    const chunks = normalize([of(0, { content: "a" }), of(1, calls), of(2, { content: "b" }, "length")]);
    const reasons = chunks.flatMap(({ choices }) => choices.map((each) => [each.index, each.finish_reason]));
    assert.deepEqual(reasons, [
      [0, null],
      [2, null],
      [0, "stop"],
      [1, null],
      [1, "tool_calls"],
      [2, "length"],
    ]);
    assert.throws(() => normalize([of(0, { content: "a" }, "stop"), of(1, calls)], false), { code: "upstream_failed" });
  });

  test("sends a role once, and a reason that comes with every chunk at the end", () => {
    const piece = (content: string) => chunk({ role: "assistant", content }, { finish_reason: "stop" });
    const chunks = normalize([piece("a"), piece("b"), piece("c")]);
    assert.deepEqual(
      chunks.map(({ choices: [choice] }) => [choice!.delta, choice!.finish_reason]),
      [
        [{ role: "assistant", content: "a" }, null],
        [{ content: "b" }, null],
        [{ content: "c" }, null],
        [{}, "stop"],
      ],
    );
  });

  test("says that tools are to be run although the engine says that it stopped", () => {
    const calls = { tool_calls: [{ index: 0, id: "t", function: { name: "f", arguments: "{}" } }] };
    assert.equal(normalize([chunk(calls, { finish_reason: "stop" })]).at(-1)!.choices[0]!.finish_reason, "tool_calls");
  });

  test("joins the halves of characters that are cut", () => {
    const texts = (...contents: string[]) =>
      normalize(contents.map((content) => chunk({ content, reasoning: content }))).flatMap(({ choices: [choice] }) =>
        choice!.delta.content == null ? [] : [choice!.delta.content],
      );
    assert.deepEqual(texts("a\ud83d", "\ude00b"), ["a", "😀b"]);
    assert.deepEqual(texts("\ud83d", "x"), ["\ufffdx"]);
    assert.deepEqual(texts("a\ud83d"), ["a", "\ufffd"]);
  });

  test("passes over events that are no chunks, and keeps the message of an error event", () => {
    const seen: ChatCompletionChunk[] = [];
    const normalizer = new ChunkNormalizer("m", (each) => seen.push(each));
    const others: [data: string, type?: string][] = [
      ["", "ping"],
      [" "],
      ['{"type":"ping"}'],
      ["keepalive", "keepalive"],
    ];
    for (const [data, type = "message"] of [...others, ["null"], ['"x"'], ["[]"], ["{}"]] as typeof others)
      assert.equal(normalizer.accept({ type, data }), false);
    assert.equal(seen.length, 0);
    for (const data of ['{"message":"Out of memory","code":429}', '{"error":{"message":"x","code":429}}'])
      assert.throws(() => normalizer.accept({ type: "error", data }), { code: "rate_limited" });
    assert.throws(() => normalizer.accept({ type: "error", data: "prompt is too long" }), AppError);
    assert.throws(() => normalizer.accept({ type: "message", data: "nonsense" }), { code: "upstream_failed" });
  });

  test("reads usage in the shapes of Responses and of Groq", () => {
    const usageOf = (event: object) =>
      normalize([chunk({ content: "a" }), { ...head, choices: [], ...event }]).at(-1)!.usage;
    const groq = { x_groq: { usage: { prompt_tokens: 1, completion_tokens: 2, total_time: 0.1 } } };
    assert.deepEqual(usageOf(groq), { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, total_time: 0.1 });
    const usage = usageOf({ usage: { input_tokens: 5, output_tokens: 1, input_tokens_details: { cached_tokens: 4 } } });
    assert.equal(usage!.prompt_tokens, 5);
    assert.equal(usage!.completion_tokens, 1);
    assert.equal(usage!.prompt_tokens_details?.cached_tokens, 4);
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
      { numRuns: propertyRuns(2_000) },
    );
    assert.ok(good > 100, `only ${good} streams were good`);
  });
});

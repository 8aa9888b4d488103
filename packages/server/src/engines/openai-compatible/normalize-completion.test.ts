import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { ChatCompletion, finishReasons } from "../../api/chat-answer.ts";
import { satisfies } from "../../api/validate.ts";
import { AppError } from "../../errors.ts";
import { normalizeCompletion } from "./normalize-completion.ts";

const normalize = (value: unknown) => normalizeCompletion(structuredClone(value), "fallback-model");
const choice = (message: unknown, more = {}) => ({ choices: [{ message, ...more }] });

describe("normalizeCompletion", () => {
  test("passes a good answer through unchanged, including unknown members", () => {
    const answer = {
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 5,
      model: "m",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: null, refusal: "No.", reasoning_content: "Hm", audio: { id: "a" } },
          logprobs: { content: [] },
          finish_reason: "content_filter",
          stop_reason: 7,
        },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, prompt_tokens_details: { cached_tokens: 1 } },
      prompt_logprobs: [null, { 5: { logprob: -1 } }],
      service_tier: "default",
      system_fingerprint: null,
    };
    assert.deepEqual(normalize(answer), answer);
  });

  test("fills in what an engine omitted", () => {
    const { id, created, ...rest } = normalize(choice({}));
    assert.match(id, /^chatcmpl-[0-9a-f]{32}$/);
    assert.ok(Number.isInteger(created) && created > 1_700_000_000);
    assert.deepEqual(rest, {
      object: "chat.completion",
      model: "fallback-model",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: null, refusal: null },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
    });
  });

  const reasons: [given: unknown, expected: string][] = [
    ...finishReasons.map((reason): [string, string] => [reason, reason]),
    ["eos", "stop"],
    ["end_turn", "stop"],
    ["STOP", "stop"],
    ["MAX_TOKENS", "length"],
    ["model_length", "length"],
    ["tool_use", "tool_calls"],
    ["SAFETY", "content_filter"],
    ["who knows", "stop"],
    [3, "stop"],
    [null, "stop"],
  ];
  for (const [given, expected] of reasons) {
    test(`maps the finish reason ${JSON.stringify(given)} to ${expected}`, () => {
      assert.equal(normalize(choice({ content: "" }, { finish_reason: given })).choices[0]?.finish_reason, expected);
    });
  }

  test("joins the parts of a content, and serializes tool arguments as text", () => {
    const toolCalls = [
      { id: "", function: { name: "f", arguments: { a: 1 } } },
      { id: "c", type: "custom", custom: { name: "x" } },
    ];
    const answer = normalize(
      choice({ content: [{ type: "text", text: "a" }, "b", { type: "x" }], tool_calls: toolCalls }),
    );
    const [first] = answer.choices;
    assert.equal(first?.message.content, "ab");
    assert.equal(first.message.tool_calls?.length, 1);
    assert.match(first.message.tool_calls[0]?.id ?? "", /^call_/);
    assert.equal(first.message.tool_calls[0]?.function.arguments, '{"a":1}');
    assert.equal(first.finish_reason, "tool_calls");
    assert.ok(!("tool_calls" in normalize(choice({ tool_calls: [] })).choices[0]!.message));
  });

  test("removes what strict clients reject", () => {
    const answer = normalize({
      ...choice({ content: "" }, { stop_reason: "END", logprobs: "x", error: null }),
      error: null,
      service_tier: "standard",
      system_fingerprint: 5,
      usage: null,
    });
    assert.ok(!("error" in answer) && !("error" in answer.choices[0]!));
    assert.ok(!("service_tier" in answer) && !("system_fingerprint" in answer) && !("usage" in answer));
    assert.equal((answer.choices[0] as unknown as { stop_reason: unknown }).stop_reason, null);
  });

  const usages: [given: unknown, expected: unknown][] = [
    [
      { prompt_tokens: 3, completion_tokens: 4 },
      { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    ],
    [
      { prompt_tokens: 3, total_tokens: 7 },
      { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    ],
    [
      { prompt_tokens: "3", completion_tokens: 4.0 },
      { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    ],
    [
      { completion_tokens: -1, total_tokens: 2 },
      { prompt_tokens: 2, completion_tokens: 0, total_tokens: 2 },
    ],
    [{}, undefined],
    [5, undefined],
  ];
  for (const [given, expected] of usages) {
    test(`completes the usage ${JSON.stringify(given)}`, () => {
      const { usage } = normalize({ ...choice({}), usage: given });
      const { prompt_tokens, completion_tokens, total_tokens } = usage ?? {};
      assert.deepEqual(usage && { prompt_tokens, completion_tokens, total_tokens }, expected);
    });
  }

  test("turns any JSON into a valid answer or an engine error", () => {
    const names = [
      "choices",
      "message",
      "content",
      "tool_calls",
      "function",
      "name",
      "arguments",
      "id",
      "index",
      "error",
    ];
    names.push(
      "usage",
      "prompt_tokens",
      "prompt_tokens_details",
      "cached_tokens",
      "logprobs",
      "token",
      "logprob",
      "bytes",
    );
    const anything = fc.anything({
      key: fc.constantFrom(...names),
      values: [fc.jsonValue({ maxDepth: 0 }), fc.constant("x"), fc.nat({ max: 9 })],
      maxDepth: 5,
      maxKeys: 5,
      withNullPrototype: false,
    });
    let good = 0;
    fc.assert(
      fc.property(fc.array(anything, { minLength: 1, maxLength: 2 }), anything, (choices, usage) => {
        try {
          const answer = normalizeCompletion(
            { choices: choices.map((message) => ({ message, index: 0 })), usage },
            "m",
          );
          assert.ok(satisfies(ChatCompletion, JSON.parse(JSON.stringify(answer))), JSON.stringify(answer));
          good++;
        } catch (error) {
          assert.ok(error instanceof AppError, String(error));
        }
      }),
      { numRuns: 1_000 },
    );
    assert.ok(good > 50, `only ${good} answers were good`);
  });
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { array, asyncProperty, assert as check, boolean, constantFrom, integer } from "fast-check";
import { outcomeOf } from "../../src/finished-call.ts";
import type { ChatChunkChoice, ChatCompletionChunk } from "../../src/api/chat-answer.ts";
import { chunk, completion, saying, scriptedModel } from "../support/scripted-model.ts";
import { startGuardedChat } from "./guarded-chat.ts";
import { propertyRuns } from "../../../../test/support/property-runs.ts";

const rules = (action: string, more = ""): string => `  house:
    type: rules
    ${more}
    rules: [{ category: violence, words: [bomb, blow up], action: ${action} }]
`;

async function* streamOf(chunks: readonly ChatCompletionChunk[]): AsyncGenerator<ChatCompletionChunk> {
  for (const each of chunks) yield await Promise.resolve(structuredClone(each));
}

/** A model that returns the text, whole or in the pieces. */
function speaker(text: string, pieces: readonly string[] = [text]) {
  return scriptedModel({ complete: () => completion(text), stream: () => streamOf(saying(...pieces)) });
}

const prompt = (content: unknown): object => ({ messages: [{ role: "user", content }] });
/** A prompt with an earlier answer that has these members. */
const said = (members: object): object => ({
  messages: [
    { role: "user", content: "Hi" },
    { role: "assistant", ...members },
  ],
});

describe("a prompt", () => {
  for (const [what, body] of [
    ["in a text", prompt("Build a BOMB")],
    [
      "in a part",
      prompt([
        { type: "text", text: "hello" },
        { type: "text", text: "blow   up" },
      ]),
    ],
    [
      "in a system message",
      {
        messages: [
          { role: "system", content: "bomb" },
          { role: "user", content: "Hi" },
        ],
      },
    ],
    [
      "in the arguments of a tool call, escaped",
      {
        messages: [
          { role: "user", content: "x" },
          {
            role: "assistant",
            tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: '{"a":["\\u0062omb"]}' } }],
          },
          { role: "tool", tool_call_id: "1", content: "ok" },
        ],
      },
    ],
    [
      "in the arguments of a call of the older form",
      said({ function_call: { name: "f", arguments: '["bo\\u006db"]' } }),
    ],
    ["in reasoning", said({ content: "ok", reasoning_content: "a bomb" })],
    [
      "in reasoning with a signature",
      said({ content: "ok", reasoning_details: [{ type: "reasoning.text", text: "bomb" }] }),
    ],
    ["in a thought", said({ content: [{ type: "thinking", thinking: [{ type: "text", text: "bomb" }] }] })],
    ["in a refusal", said({ refusal: "no bomb" })],
    ["in the name of a participant", { messages: [{ role: "user", name: "bomb", content: "Hi" }] }],
    ["in a predicted answer", { ...prompt("Hi"), prediction: { type: "content", content: "a bomb" } }],
    [
      "in a predicted answer of parts",
      { ...prompt("Hi"), extra_body: { prediction: { type: "content", content: [{ type: "text", text: "bomb" }] } } },
    ],
  ] as const) {
    for (const stream of [false, true]) {
      test(`is refused for a word ${what}, ${stream ? "streamed" : "whole"}, and no model is called`, async () => {
        const model = speaker("never");
        await using chat = await startGuardedChat(rules("block"), model);
        const { status, values } = await chat.read({ ...body, stream });
        assert.equal(status, 400);
        assert.deepEqual(values, [
          {
            error: {
              message: 'The prompt was refused because of its content: violence (guardrail "house").',
              type: "invalid_request_error",
              param: "messages",
              code: "content_filter",
            },
          },
        ]);
        assert.equal(model.calls.length, 0);
        const [finished] = chat.finishedChats;
        assert.deepEqual([outcomeOf(finished!), finished!.guard?.blockedFor], ["content_filter", "violence"]);
      });
    }
  }

  test("reaches the model without the redacted text", async () => {
    const model = speaker("ok");
    await using chat = await startGuardedChat(rules("redact"), model);
    assert.equal((await chat.read(prompt("a bomb and a cat"))).text, "ok");
    assert.deepEqual(model.calls[0]!.request.messages, [{ role: "user", content: "a [removed] and a cat" }]);
    assert.deepEqual(model.calls[0]!.changes["messages"], model.calls[0]!.request.messages);
    assert.deepEqual(chat.finishedChats[0]!.request.messages, model.calls[0]!.request.messages);
  });

  test("reaches the model without the redacted text of members next to its content", async () => {
    const model = speaker("ok");
    await using chat = await startGuardedChat(rules("redact"), model);
    const call = { name: "bomb", arguments: '{"what":"\\u0062omb"}' };
    const prediction = { type: "content", content: "a bomb" };
    const body = { ...said({ reasoning_content: "bomb?", function_call: call, content: null }), prediction };
    assert.equal((await chat.read(body)).text, "ok");
    const { changes, request } = model.calls[0]!;
    const redacted = [
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        reasoning_content: "[removed]?",
        function_call: { name: "bomb", arguments: '{"what":"[removed]"}' },
        content: null,
      },
    ];
    assert.deepEqual(request.messages, redacted);
    assert.deepEqual({ ...changes }, { messages: redacted, prediction: { type: "content", content: "a [removed]" } });
  });

  test("that is only flagged passes, and the flag is recorded", async () => {
    const model = speaker("ok");
    await using chat = await startGuardedChat(rules("flag"), model);
    assert.equal((await chat.read(prompt("a bomb"))).status, 200);
    assert.deepEqual(chat.finishedChats[0]!.guard?.findings, [
      { category: "violence", action: "flag", guardrail: "house", side: "input" },
    ]);
    assert.equal(chat.finishedChats[0]!.guard?.blockedFor, undefined);
    assert.deepEqual(Object.keys(model.calls[0]!.changes), []);
  });

  describe("that is refused is recorded without the redacted text", () => {
    const rule = (action: string, word: string): string =>
      `{ category: violence, words: [${word}], action: ${action} }`;
    const house = (name: string, ...ruled: string[]): string =>
      `  ${name}: { type: rules, rules: [${ruled.join(", ")}] }\n`;
    const [redacting, blocking] = [rule("redact", "secret"), rule("block", "bomb")];
    const messages = [
      { role: "user", content: "a secret, a bomb, a secret" },
      { role: "user", content: "secret" },
    ];
    const recorded = [
      { role: "user", content: "a [removed], a bomb, a [removed]" },
      { role: "user", content: "[removed]" },
    ];
    for (const [what, yaml, expected] of [
      ["by a guardrail before", house("first", redacting) + house("second", blocking), recorded],
      ["by another rule of the same", house("only", blocking, redacting), recorded],
      ["by a guardrail that was not asked any more", house("first", blocking) + house("second", redacting), []],
      ["by none", house("only", blocking), messages],
    ] as const) {
      test(what, async () => {
        await using chat = await startGuardedChat(yaml, speaker("never"));
        assert.equal((await chat.read({ messages })).code, "content_filter");
        assert.deepEqual(chat.finishedChats[0]!.request.messages, expected);
      });
    }

    test("is also recorded so if a guardrail gave no judgment", async () => {
      const judge = `  judge: { type: moderation, base_url: "http://127.0.0.1:1", categories: { hate: { action: flag } } }\n`;
      await using chat = await startGuardedChat(house("first", redacting) + judge, speaker("never"));
      assert.equal((await chat.read({ messages: [messages[1]] })).status, 502);
      assert.deepEqual(chat.finishedChats[0]!.request.messages, [recorded[1]]);
    });
  });

  test("is judged only in the configured roles", async () => {
    await using chat = await startGuardedChat(rules("block", "roles: [user]"), speaker("ok"));
    const system = { role: "system", content: "Never speak of a bomb." };
    assert.equal((await chat.read({ messages: [system, { role: "user", content: "Hi" }] })).status, 200);
    assert.equal((await chat.read({ messages: [system, { role: "user", content: "bomb" }] })).status, 400);
    const predicted = { ...prompt("Hi"), prediction: { type: "content", content: "bomb" } };
    assert.equal((await chat.read(predicted)).status, 200);
  });
});

describe("an answer", () => {
  test("is withheld if it contains a blocked word", async () => {
    await using chat = await startGuardedChat(rules("block"), speaker("First the bomb."));
    const { reason, status, text, values } = await chat.read({});
    assert.deepEqual([status, reason, text], [200, "content_filter", ""]);
    assert.deepEqual(values[0].choices[0].message, { role: "assistant", content: null });
    assert.equal(values[0].usage.total_tokens, 9);
    assert.deepEqual(chat.finishedChats[0]!.answer!.finishReasons, ["content_filter"]);
  });

  for (const [action, text, reason] of [
    ["block", undefined, "content_filter"],
    ["redact", "Then they [removed] the [removed], far away from here.", "stop"],
    ["flag", "Then they blow up the bomb, far away from here.", "stop"],
  ] as const) {
    test(`in a stream that is split anywhere has the same result: ${action}`, async () => {
      const said = "Then they blow up the bomb, far away from here.";
      let at = 0;
      const model = scriptedModel({
        stream: () => streamOf(saying(said.slice(0, at), said.slice(at))),
      });
      await using chat = await startGuardedChat(rules(action), model);
      for (at = 0; at <= said.length; at += 1) {
        const answer = await chat.read({ stream: true });
        assert.equal(answer.reason, reason);
        assert.equal(answer.values.at(-1), "[DONE]");
        if (text === undefined) assert.ok("Then they ".startsWith(answer.text), answer.text);
        else assert.equal(answer.text, text);
      }
    });
  }

  test("that is blocked in a stream ends it, and cancels the engine's call", async () => {
    let isLeft = false;
    const model = scriptedModel({
      async *stream() {
        try {
          for (;;)
            yield await Promise.resolve(chunk([{ index: 0, delta: { content: "a bomb " }, finish_reason: null }]));
        } finally {
          isLeft = true;
        }
      },
    });
    await using chat = await startGuardedChat(rules("block"), model);
    const { reason, values } = await chat.read({ stream: true });
    assert.deepEqual([reason, values.at(-1), isLeft], ["content_filter", "[DONE]", true]);
    assert.equal(outcomeOf(chat.finishedChats[0]!), "ok");
    assert.equal(chat.finishedChats[0]!.guard?.blockedFor, "violence");
  });

  test("of several choices loses only those that are blocked", async () => {
    const choice = (index: number, content: string, reason: "stop" | null = null) =>
      chunk([{ index, delta: { content }, finish_reason: reason }]);
    const model = scriptedModel({
      stream: () =>
        streamOf([
          choice(0, "a "),
          choice(1, "peace "),
          choice(0, "bomb now"),
          choice(0, "", "stop"),
          choice(1, "now", "stop"),
        ]),
    });
    await using chat = await startGuardedChat(rules("block"), model);
    const { values } = await chat.read({ stream: true, n: 2 });
    const choices = values.flatMap((value) => value.choices ?? []);
    const second = choices.filter(({ index }) => index === 1);
    assert.equal(second.map(({ delta }) => delta.content ?? "").join(""), "peace now");
    assert.deepEqual(
      choices.flatMap(({ finish_reason: reason, index }) => (reason === null ? [] : [[index, reason]])),
      [
        [0, "content_filter"],
        [1, "stop"],
      ],
    );
  });

  test("of several choices, some without a reason, releases the held text of each, and the engine's last chunk once", async () => {
    const choice = (index: number, content: string, reason: "stop" | null) => ({
      index,
      delta: { content },
      finish_reason: reason,
    });
    const model = scriptedModel({
      stream: () =>
        streamOf([chunk([choice(0, "peace", "stop"), choice(1, "a bomb", null), choice(2, "now", "stop")]), chunk([])]),
    });
    await using chat = await startGuardedChat(rules("redact"), model);
    const { values } = await chat.read({ stream: true, n: 3 });
    assert.deepEqual(
      values.map(({ choices }) =>
        (choices as ChatChunkChoice[] | undefined)?.map((each) => [each.index, each.delta.content]),
      ),
      [[[0, "peace"]], [[0, undefined]], [[2, "now"]], [[2, undefined]], [], [[1, "a [removed]"]], undefined],
    );
  });

  test("omits what cannot be judged", async () => {
    const more = { reasoning_content: "think of a bomb", audio: { data: "AAAA" }, annotations: [{ text: "bomb" }] };
    const message = { role: "assistant" as const, content: "fine", ...more };
    const model = scriptedModel({
      complete: () =>
        completion("", { choices: [{ index: 0, message, finish_reason: "stop", logprobs: { content: [] } }] }),
      stream: () => streamOf([chunk([{ index: 0, delta: message, finish_reason: "stop", logprobs: { content: [] } }])]),
    });
    await using chat = await startGuardedChat(rules("redact"), model);
    const [whole, streamed] = [await chat.read({}), await chat.read({ stream: true })];
    const expected = { role: "assistant", content: "fine", reasoning_content: "think of a [removed]" };
    assert.deepEqual(whole.values[0].choices, [{ index: 0, message: expected, finish_reason: "stop" }]);
    assert.deepEqual(
      Object.assign({}, ...streamed.values.flatMap((value) => value.choices ?? []).map(({ delta }) => delta)),
      expected,
    );
    assert.doesNotMatch(JSON.stringify(streamed.values), /logprobs|audio|bomb/);
  });

  for (const [parameter, value] of [
    ["logprobs", true],
    ["modalities", ["text", "audio"]],
  ] as const) {
    test(`is not available with ${parameter}`, async () => {
      await using chat = await startGuardedChat(rules("block"), speaker("x"));
      const { status, values } = await chat.read({ [parameter]: value });
      assert.deepEqual(
        [status, values[0].error.code, values[0].error.param],
        [400, "unsupported_parameter", parameter],
      );
    });
  }

  for (const stream of [false, true]) {
    for (const [action, args, expected, reason] of [
      ["block", '{"what":"\\u0062omb"}', undefined, "content_filter"],
      ["redact", '{"\\u0062omb":["a bomb"]}', '{"[removed]":["a [removed]"]}', "tool_calls"],
      ["block", '{"what":"bomb","what":"cat"}', undefined, "content_filter"],
      [
        "redact",
        '{"id":12345678901234567890, "a":"bomb"}',
        '{"id":12345678901234567890, "a":"[removed]"}',
        "tool_calls",
      ],
      ["redact", '{ "what": "cat" }', '{ "what": "cat" }', "tool_calls"],
      ["block", `{"long":"${"cat ".repeat(60_000)}"}`, `{"long":"${"cat ".repeat(60_000)}"}`, "tool_calls"],
    ] as const) {
      test(`with a tool call of ${args.slice(0, 25)}: ${action}, ${stream ? "streamed" : "whole"}`, async () => {
        const call = (text: string, more: object = {}) => ({ index: 0, ...more, function: { arguments: text } });
        const named = { id: "call_1", type: "function" as const, function: { name: "f", arguments: args } };
        const half = Math.floor(args.length / 2);
        const model = scriptedModel({
          complete: () =>
            completion("", {
              choices: [
                {
                  index: 0,
                  message: { role: "assistant", content: null, tool_calls: [named] },
                  finish_reason: "tool_calls",
                },
              ],
            }),
          stream: () =>
            streamOf([
              chunk([
                {
                  index: 0,
                  delta: { tool_calls: [{ ...named, index: 0, function: { name: "f", arguments: "" } }] },
                  finish_reason: null,
                },
              ]),
              chunk([{ index: 0, delta: { tool_calls: [call(args.slice(0, half))] }, finish_reason: null }]),
              chunk([{ index: 0, delta: { tool_calls: [call(args.slice(half))] }, finish_reason: null }]),
              chunk([{ index: 0, delta: {}, finish_reason: "tool_calls" }]),
            ]),
        });
        await using chat = await startGuardedChat(rules(action), model);
        const answer = await chat.read({ stream });
        assert.equal(answer.reason, reason);
        const calls = answer.values
          .flatMap((value) => value.choices ?? [])
          .flatMap((choice) => (choice.delta ?? choice.message).tool_calls ?? []);
        if (expected === undefined) assert.deepEqual(calls, []);
        else {
          assert.deepEqual([calls[0].id, calls[0].type, calls[0].function.name], ["call_1", "function", "f"]);
          assert.equal(calls.map((each) => each.function.arguments).join(""), expected);
        }
      });
    }
  }
});

test("no chunking of any answer lets a blocked word through", async () => {
  let chunks: ChatCompletionChunk[] = [];
  const model = scriptedModel({ stream: () => streamOf(chunks) });
  await using chat = await startGuardedChat(rules("block"), model);
  const piece = constantFrom("bo", "mb", "b", "o", "m", "bomb", " ", "blow", " up", "x", "", "😀");
  await check(
    asyncProperty(
      array(piece, { maxLength: 25 }),
      array(integer({ min: 0, max: 1 }), { maxLength: 25 }),
      boolean(),
      async (pieces, owners, isSplit) => {
        const spoken = ["", ""];
        chunks = pieces.map((content, index) => {
          const owner = owners[index] ?? 0;
          spoken[owner] += content;
          const reason = null;
          return chunk([
            { index: owner, delta: isSplit ? { content } : { content, refusal: content }, finish_reason: reason },
          ]);
        });
        chunks.push(chunk([0, 1].map((index) => ({ index, delta: {}, finish_reason: "stop" as const }))));
        const { values } = await chat.read({ stream: true, n: 2 });
        const choices = values.flatMap((value) => value.choices ?? []);
        for (const index of [0, 1]) {
          const own = choices.filter((choice) => choice.index === index);
          const text = own.map(({ delta }) => delta.content ?? "").join("");
          const said = /(?<![\p{L}\p{M}\p{N}_])(?:bomb|blow {1,8}up)(?![\p{L}\p{M}\p{N}_])/u;
          assert.doesNotMatch(text, said);
          const ends = own.flatMap(({ finish_reason: reason }) => (reason === null ? [] : [reason]));
          assert.deepEqual(ends, [said.test(spoken[index]!) ? "content_filter" : "stop"]);
          if (ends[0] === "stop") assert.equal(text, spoken[index]);
        }
        assert.equal(values.at(-1), "[DONE]");
      },
    ),
    { numRuns: propertyRuns(150) },
  );
});

describe("a guardrail applies", () => {
  const applies = async (more: string, asked: object, headers: Record<string, string> = {}) => {
    await using chat = await startGuardedChat(rules("block", more), speaker("ok"), (id) =>
      id === "alias" ? "large" : id,
    );
    const response = await chat.post(
      { model: "small", messages: [{ role: "user", content: "bomb" }], ...asked },
      {
        headers: {
          authorization: "Bearer sk-test-key-of-the-http-tests",
          "content-type": "application/json",
          ...headers,
        },
      },
    );
    return response.status === 400;
  };
  for (const [more, asked, headers, expected] of [
    ["models: [large]", { model: "large" }, {}, true],
    ["models: [large]", { model: "alias" }, {}, true],
    ["models: [alias]", { model: "alias" }, {}, true],
    ["models: ['lar*']", { model: "alias" }, {}, true],
    ["models: [large]", { model: "small" }, {}, false],
    ["projects: [billing]", {}, {}, false],
    ["projects: [billing]", {}, { "x-project": "billing" }, true],
    ["organizations: [test-org]", {}, {}, true],
    ["organizations: [org_test]", {}, {}, true],
    ["organizations: [other]", {}, {}, false],
    ["check: [output]", {}, {}, false],
    ["check: [input]", {}, {}, true],
  ] as const) {
    test(`with ${more} to ${JSON.stringify({ ...asked, ...headers })}: ${expected ? "yes" : "no"}`, async () => {
      assert.equal(await applies(more, asked, headers), expected);
    });
  }
});

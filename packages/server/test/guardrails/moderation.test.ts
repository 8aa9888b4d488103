import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { outcomeOf } from "../../src/finished-call.ts";
import type { ChatCompletionChunk } from "../../src/api/chat-answer.ts";
import { completion, saying, scriptedModel } from "../support/scripted-model.ts";
import { startScriptedUpstream, type ScriptedExchange, type ScriptedUpstream } from "../support/scripted-upstream.ts";
import { startGuardedChat } from "./guarded-chat.ts";
import { beforeEachTest, beforeTests } from "../../../../test/support/hooks.ts";

let endpoint: ScriptedUpstream;
beforeTests(async (stack) => {
  endpoint = await startScriptedUpstream(judge, { keepAliveMs: 300_000 });
  stack.defer(() => endpoint.close());
});
beforeEachTest(() => {
  endpoint.script = judge;
});

/** Judges as OpenAI does, by the words "threat" and "insult". */
function judge(exchange: ScriptedExchange): void {
  const { input } = exchange.json as { input: string[] };
  exchange.answer({
    id: "modr-1",
    model: "omni-moderation-latest",
    results: input.map((text) => ({
      flagged: /threat/.test(text),
      categories: { "harassment/threatening": /threat/.test(text), hate: false, "self-harm/intent": false },
      category_scores: {
        harassment: 0.1,
        "harassment/threatening": /threat/.test(text) ? 0.9 : 0.2,
        hate: /insult/.test(text) ? 0.6 : 0.01,
      },
    })),
  });
}

const settings = (categories: string, more = ""): string => `  judge:
    type: moderation
    base_url: ${endpoint.url}/v1
    api_key: sk-moderation
    model: omni-moderation-latest
    batch_characters: 40
    categories: { ${categories} }
    ${more}
`;

async function* streamOf(chunks: readonly ChatCompletionChunk[]): AsyncGenerator<ChatCompletionChunk> {
  for (const each of chunks) yield await Promise.resolve(structuredClone(each));
}

function speaker(text: string) {
  return scriptedModel({
    complete: () => completion(text),
    stream: () => streamOf(saying(...(text.match(/.{1,5}/gs) ?? []))),
  });
}

const prompt = (content: string): object => ({ messages: [{ role: "user", content }] });

describe("a moderation endpoint", () => {
  test("is called as OpenAI's is, once for all texts of a prompt", async () => {
    await using chat = await startGuardedChat(settings("harassment: {}", "check: [input]"), speaker("ok"));
    const begun = endpoint.exchanges.length;
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "Hello" }] },
    ];
    assert.equal((await chat.read({ messages })).text, "ok");
    const asked = endpoint.exchanges.slice(begun);
    assert.equal(asked.length, 1);
    assert.deepEqual([asked[0]!.method, asked[0]!.path], ["POST", "/v1/moderations"]);
    assert.equal(asked[0]!.headers.authorization, "Bearer sk-moderation");
    assert.deepEqual(asked[0]!.json, { model: "omni-moderation-latest", input: ["Be brief.", "Hello"] });
  });

  test("refuses a prompt by the endpoint's own judgment; a subcategory counts as its category", async () => {
    await using chat = await startGuardedChat(settings("harassment: {}"), speaker("ok"));
    const { code, status, values } = await chat.read(prompt("a threat"));
    assert.deepEqual([status, code], [400, "content_filter"]);
    assert.match(values[0].error.message, /harassment \(guardrail "judge"\)/);
  });

  for (const [threshold, expected] of [
    [0.5, 400],
    [0.7, 200],
  ] as const) {
    test(`refuses by the threshold ${threshold}`, async () => {
      await using chat = await startGuardedChat(settings(`hate: { threshold: ${threshold} }`), speaker("ok"));
      assert.equal((await chat.read(prompt("an insult"))).status, expected);
      assert.equal((await chat.read(prompt("a kindness"))).status, 200);
    });
  }

  test("counts no category that the configuration does not name", async () => {
    await using chat = await startGuardedChat(settings("violence: {}"), speaker("ok"));
    assert.equal((await chat.read(prompt("a threat, an insult"))).status, 200);
  });

  test("redacts and flags by category", async () => {
    const categories = "harassment: { action: redact }, hate: { threshold: 0.5, action: flag }";
    const model = speaker("an insult");
    await using chat = await startGuardedChat(settings(categories), model);
    assert.equal((await chat.read(prompt("a threat"))).text, "an insult");
    assert.equal(model.calls[0]!.request.messages[0]!.content, "[removed]");
    assert.deepEqual(
      chat.finishedChats[0]!.guard?.findings.map(({ action, category, side }) => [side, action, category]),
      [
        ["input", "redact", "harassment"],
        ["output", "flag", "hate"],
      ],
    );
  });

  test("refuses a prompt of which it redacts another message, and records both", async () => {
    const categories = "harassment: { action: redact }, hate: { threshold: 0.5 }";
    await using chat = await startGuardedChat(settings(categories), speaker("never"));
    const messages = ["a threat", "an insult"].map((content) => ({ role: "user", content }));
    assert.equal((await chat.read({ messages })).code, "content_filter");
    assert.deepEqual(
      chat.finishedChats[0]!.request.messages.map(({ content }) => content),
      ["[removed]", "an insult"],
    );
  });

  test("judges a long prompt in pieces", async () => {
    await using chat = await startGuardedChat(settings("harassment: {}", "check: [input]"), speaker("ok"));
    const begun = endpoint.exchanges.length;
    const long = "All is well here. ".repeat(20_000);
    assert.equal((await chat.read(prompt(long))).status, 200);
    const sent = endpoint.exchanges.slice(begun).flatMap((exchange) => (exchange.json as { input: string[] }).input);
    assert.equal(sent.join(""), long);
    assert.ok(sent.every((text) => text.length <= 8_000));
    assert.equal((await chat.read(prompt(`${long} a threat`))).status, 400);
  });

  test("judges a stream sentence by sentence, each before it is sent", async () => {
    await using chat = await startGuardedChat(
      settings("harassment: {}", "check: [output]"),
      speaker("All is well so far. And it still is. Now comes a threat. And more."),
    );
    const begun = endpoint.exchanges.length;
    const { reason, text, values } = await chat.read({ stream: true });
    assert.deepEqual(
      [text, reason, values.at(-1)],
      ["All is well so far. And it still is. ", "content_filter", "[DONE]"],
    );
    assert.deepEqual(
      endpoint.exchanges.slice(begun).map((exchange) => (exchange.json as { input: string[] }).input),
      [
        ["All is well so far. "],
        ["All is well so far. And it still is. "],
        ["All is well so far. And it still is. Now comes a threat. "],
      ],
    );
  });

  test("redacts pieces of a stream", async () => {
    await using chat = await startGuardedChat(
      settings("harassment: { action: redact }", "check: [output]"),
      speaker("All is well so far. Now comes a threat. And on it goes"),
    );
    assert.equal((await chat.read({ stream: true })).text, "All is well so far. [removed]And on it goes");
  });
});

describe("after a reload", () => {
  const text = "All is well so far. And it still is. Now comes the end.";

  beforeEachTest(() => endpoint.until(() => endpoint.openSockets === 0, "the end of connections of other tests"));

  test("an endpoint that is no longer used keeps no connection", async () => {
    await using chat = await startGuardedChat(settings("harassment: {}"), speaker(text));
    assert.equal((await chat.read({})).status, 200);
    assert.ok(endpoint.openSockets > 0);
    chat.reload(`  house: { type: rules, rules: [{ category: hate, words: [bomb] }] }`);
    await endpoint.until(() => endpoint.openSockets === 0, "that the connection is closed");
  });

  test("a running call is checked to its end by its original guardrails", async () => {
    let isReloaded = false;
    let reload = (): void => {};
    endpoint.script = (exchange) => {
      if (!isReloaded) reload();
      isReloaded = true;
      judge(exchange);
    };
    await using chat = await startGuardedChat(settings("harassment: {}", "check: [output]"), speaker(text));
    reload = () => chat.reload(`  house: { type: rules, rules: [{ category: hate, words: [bomb] }] }`);
    const begun = endpoint.exchanges.length;
    const { text: read, reason } = await chat.read({ stream: true });
    assert.deepEqual([read, reason], [text, "stop"]);
    assert.equal(endpoint.exchanges.length - begun, 3);
    await endpoint.until(() => endpoint.openSockets === 0, "that the connections are closed");
  });
});

describe("without a judgment", () => {
  const answers: readonly [
    what: string,
    script: (exchange: ScriptedExchange) => Promise<void> | void,
    status: number,
  ][] = [
    ["an error", (exchange) => exchange.answer({ error: { message: "boom" } }, 500), 502],
    ["a refused key", (exchange) => exchange.answer({ error: { message: "no" } }, 401), 502],
    ["too many requests", (exchange) => exchange.answer({}, 429, { "retry-after": "3" }), 503],
    ["no JSON", (exchange) => exchange.answer("<html>"), 502],
    ["too few results", (exchange) => exchange.answer({ results: [] }), 502],
    ["results without categories", (exchange) => exchange.answer({ results: [{ flagged: false }] }), 502],
    ["results that are none", (exchange) => exchange.answer({ results: [null] }), 502],
    ["half an answer", (exchange) => (exchange.begin(200, { "content-length": "500" }), exchange.cut()), 502],
    ["no answer in time", (exchange) => exchange.stall(), 504],
  ];
  for (const [what, script, status] of answers) {
    test(`but ${what}, a prompt is refused, or passes if the configuration says so`, async () => {
      endpoint.script = script;
      for (const fail of ["closed", "open"]) {
        const model = speaker("ok");
        const more = `timeout_ms: 300\n    check: [input]\n    fail: ${fail}`;
        await using chat = await startGuardedChat(settings("harassment: {}", more), model);
        const answer = await chat.read(prompt("hello"));
        assert.equal(answer.status, fail === "open" ? 200 : status);
        assert.equal(model.calls.length, fail === "open" ? 1 : 0);
        assert.ok(chat.warnings.includes("a guardrail returned no verdict"));
        if (fail === "closed")
          assert.match(answer.values[0].error.message, /^The guardrail "judge" returned no verdict/);
      }
    });
  }

  test("in the middle of a stream, the stream ends with the error and without the text", async () => {
    let asked = 0;
    endpoint.script = (exchange) => ((asked += 1) > 1 ? exchange.answer({}, 500) : judge(exchange));
    await using chat = await startGuardedChat(
      settings("harassment: {}", "check: [output]"),
      speaker("All is well so far. Now comes a threat."),
    );
    const { text, values } = await chat.read({ stream: true });
    assert.equal(text, "All is well so far. ");
    assert.equal(values.at(-1).error.code, "upstream_error");
  });

  test("when the caller has disconnected, the endpoint's call is cancelled too", async () => {
    endpoint.script = (exchange) => exchange.stall();
    await using chat = await startGuardedChat(settings("harassment: {}"), speaker("ok"));
    const [begun, aborts] = [endpoint.exchanges.length, endpoint.aborts];
    const caller = new AbortController();
    const call = chat.post(
      { model: "m", messages: [{ role: "user", content: "Hi" }] },
      {
        signal: caller.signal,
        headers: { authorization: "Bearer sk-test-key-of-the-http-tests", "content-type": "application/json" },
      },
    );
    await endpoint.until(() => endpoint.exchanges.length > begun, "a question");
    caller.abort();
    await assert.rejects(call);
    await endpoint.until(() => endpoint.aborts > aborts, "that it is left");
    await chat.untilFinished(1);
    assert.equal(outcomeOf(chat.finishedChats[0]!), "client_closed");
  });
});

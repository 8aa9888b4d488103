/** An engine that fails in every way: each call ends at its limit with the right error and leaves nothing open. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ErrorCode } from "../../src/errors.ts";
import type { OpenAiCompatibleSettings } from "../../src/config/engines/openai-compatible.ts";
import { startScriptedUpstream, toEvent, type Script } from "../support/scripted-upstream.ts";
import { chatModel, chunk, collect, completion, contentOf, openEngine, toCall } from "./engine-call.ts";

interface Misbehaviour {
  readonly name: string;
  readonly script: Script;
  readonly settings?: Partial<OpenAiCompatibleSettings>;
  readonly code: ErrorCode;
  readonly message: RegExp;
  /** A stream's content before the error. */
  readonly before?: string | RegExp;
  readonly only?: "batch" | "stream";
}

const hello = chunk({ role: "assistant", content: "Hel" });

const comments = ": keep\n\n".repeat(1000);

const withStatus = (status: number, body: unknown, headers: Record<string, string> = {}): Script => {
  return (exchange) => exchange.answer(body, status, headers);
};

const misbehaviours: readonly Misbehaviour[] = [
  {
    name: "takes the request and says nothing",
    script: (exchange) => exchange.stall(),
    settings: { total_timeout_ms: 200 },
    code: "upstream_timeout",
    message: /within 200 ms/,
  },
  {
    name: "sends comments without end",
    async script(exchange) {
      exchange.beginEvents();
      await exchange.flood(comments);
    },
    code: "upstream_failed",
    message: /more than 1048576 bytes without content/,
    only: "stream",
  },
  {
    name: "sends a word, then events without choices and without end",
    async script(exchange) {
      exchange.beginEvents();
      await exchange.sendEvents(hello);
      await exchange.flood(toEvent({ id: "x", choices: [] }));
    },
    code: "upstream_failed",
    message: /more than 1048576 bytes without content/,
    before: "Hel",
    only: "stream",
  },
  {
    name: "says nothing, to a stream",
    script: (exchange) => exchange.stall(),
    settings: { first_byte_timeout_ms: 200 },
    code: "upstream_timeout",
    message: /did not start to respond within 200 ms/,
    only: "stream",
  },
  {
    name: "sends headers and no more",
    async script(exchange) {
      exchange.beginEvents();
      await exchange.stall();
    },
    settings: { first_byte_timeout_ms: 200 },
    code: "upstream_timeout",
    message: /did not start to respond within 200 ms/,
    only: "stream",
  },
  {
    name: "stalls in the middle of a batch answer",
    async script(exchange) {
      exchange.begin(200, { "content-type": "application/json" });
      await exchange.send('{"id":"1","cho');
      await exchange.stall();
    },
    settings: { total_timeout_ms: 300 },
    code: "upstream_timeout",
    message: /within 300 ms/,
    only: "batch",
  },
  {
    name: "stalls after the first chunk",
    async script(exchange) {
      exchange.beginEvents();
      await exchange.sendEvents(hello);
      await exchange.stall();
    },
    settings: { idle_timeout_ms: 200 },
    code: "upstream_timeout",
    message: /sent nothing for 200 ms/,
    before: "Hel",
    only: "stream",
  },
  {
    name: "sends heartbeats for ever before the first chunk",
    async script(exchange) {
      exchange.beginEvents();
      await exchange.flood(": OPENROUTER PROCESSING\n\n");
    },
    settings: { first_byte_timeout_ms: 200 },
    code: "upstream_timeout",
    message: /did not start to respond/,
    only: "stream",
  },
  {
    name: "never ends",
    async script(exchange) {
      exchange.beginEvents();
      await exchange.flood(toEvent(chunk({ content: "x" })));
    },
    settings: { total_timeout_ms: 300 },
    code: "upstream_timeout",
    message: /within 300 ms/,
    before: /^x+$/,
    only: "stream",
  },
  {
    name: "sends pieces without content for ever",
    async script(exchange) {
      exchange.beginEvents();
      await exchange.flood(toEvent(chunk({ content: "" })));
    },
    code: "upstream_failed",
    message: /more than 1048576 bytes without content/,
    only: "stream",
  },
  {
    name: "sends pings and nothing else",
    async script(exchange) {
      exchange.beginEvents();
      await exchange.send('data: {"type":"ping"}\n\nevent: keepalive\ndata: x\n\ndata:\n\ndata: 5\n\n');
      await exchange.stall();
    },
    settings: { first_byte_timeout_ms: 200 },
    code: "upstream_timeout",
    message: /did not start to respond/,
    only: "stream",
  },
  {
    name: "sends an error event after the first chunk",
    async script(exchange) {
      exchange.beginEvents();
      await exchange.sendEvents(hello);
      await exchange.send('event: error\ndata: {"message":"The prompt is too long for this model.","code":400}\n\n');
      await exchange.stall();
    },
    code: "context_length_exceeded",
    message: /The prompt is too long for this model/,
    before: "Hel",
    only: "stream",
  },
  {
    name: "breaks the connection before it answers",
    script: (exchange) => exchange.cut(),
    code: "upstream_failed",
    message: /connection/,
  },
  {
    name: "breaks the connection in the middle of a batch answer",
    async script(exchange) {
      exchange.begin(200, { "content-type": "application/json" });
      await exchange.drip(['{"id":"1"']);
      exchange.cut();
    },
    code: "upstream_failed",
    message: /connection/,
    only: "batch",
  },
  {
    name: "ends in the middle of an event",
    async script(exchange) {
      exchange.beginEvents();
      await exchange.drip([toEvent(hello)]);
      await exchange.drip(['data: {"id":"1"']);
      exchange.end();
    },
    code: "upstream_failed",
    message: /before the response was complete/,
    before: "Hel",
    only: "stream",
  },
  {
    name: "ends a stream without a reason and without [DONE]",
    async script(exchange) {
      exchange.beginEvents();
      await exchange.sendEvents(hello);
      exchange.end();
    },
    code: "upstream_failed",
    message: /before the response was complete/,
    before: "Hel",
    only: "stream",
  },
  {
    name: "ends a stream of two choices when only one is finished",
    async script(exchange) {
      exchange.beginEvents();
      const other = { ...hello, choices: [{ index: 1, delta: { content: "Hi" }, finish_reason: null }] };
      await exchange.sendEvents(hello, other, chunk({}, "stop"));
      exchange.end();
    },
    code: "upstream_failed",
    message: /before the response was complete/,
    before: "Hel",
    only: "stream",
  },
  {
    name: "ends a stream that has not begun",
    script(exchange) {
      exchange.beginEvents();
      exchange.end();
    },
    code: "upstream_failed",
    message: /before the response was complete/,
    only: "stream",
  },
  {
    name: "says [DONE] and nothing else",
    async script(exchange) {
      exchange.beginEvents();
      await exchange.sendEvents("[DONE]");
      exchange.end();
    },
    code: "upstream_failed",
    message: /before the response was complete/,
    only: "stream",
  },
  {
    name: "does not speak HTTP",
    script: (exchange) => exchange.raw("SSH-2.0-OpenSSH_9.2\r\n"),
    code: "upstream_failed",
    message: /not valid HTTP/,
  },
  {
    name: "answers with a web page",
    script: withStatus(200, "<html>Welcome</html>", { "content-type": "text/html" }),
    code: "upstream_failed",
    message: /not JSON|before the response was complete/,
  },
  {
    name: "answers with half JSON",
    script: withStatus(200, '{"id": "x", '),
    code: "upstream_failed",
    message: /not JSON/,
  },
  {
    name: "answers with 200,000 nested arrays",
    script: withStatus(200, `{"id": "x", "choices": [], "x": ${"[".repeat(200_000)}${"]".repeat(200_000)}}`),
    code: "upstream_failed",
    message: /more than 500 levels of nesting/,
  },
  { name: "answers with nothing", script: withStatus(200, ""), code: "upstream_failed", message: /not JSON/ },
  {
    name: "answers with an empty object",
    script: withStatus(200, "{}"),
    code: "upstream_failed",
    message: /no choices/,
  },
  { name: "answers with a list", script: withStatus(200, "[]"), code: "upstream_failed", message: /not a JSON object/ },
  {
    name: "answers without choices",
    script: withStatus(200, { ...completion, choices: [] }),
    code: "upstream_failed",
    message: /no choices/,
  },
  {
    name: "answers with a choice that is no object",
    script: withStatus(200, { ...completion, choices: [1] }),
    code: "upstream_failed",
    message: /choices\[0\]/,
  },
  {
    name: "answers without a message",
    script: withStatus(200, { ...completion, choices: [{ index: 0 }] }),
    code: "upstream_failed",
    message: /no message/,
  },
  {
    name: "answers with a number for content",
    script: withStatus(200, { ...completion, choices: [{ message: { content: 5 } }] }),
    code: "upstream_failed",
    message: /content/,
  },
  {
    name: "breaks off and says so",
    script: withStatus(200, { ...completion, choices: [{ message: { content: "x" }, finish_reason: "error" }] }),
    code: "upstream_failed",
    message: /aborted its response/,
  },
  {
    name: "compresses unasked",
    script: withStatus(200, completion, { "content-encoding": "gzip" }),
    code: "upstream_failed",
    message: /compressed/,
  },
  {
    name: "redirects",
    script: withStatus(302, "", { location: "https://example.com/" }),
    code: "upstream_failed",
    message: /302/,
  },
  {
    name: "sends less than it announced",
    script: (exchange) =>
      exchange.raw(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5\r\nconnection: close\r\n\r\n{}",
      ),
    settings: { total_timeout_ms: 300 },
    code: "upstream_timeout",
    message: /within 300 ms/,
  },
  {
    name: "answers with more than the limit",
    async script(exchange) {
      exchange.begin(200, { "content-type": "application/json" });
      await exchange.flood(" ".repeat(1_000));
    },
    settings: { max_answer_bytes: 10_000 },
    code: "upstream_failed",
    message: /larger than 10000 bytes/,
  },
  {
    name: "sends an event above the limit",
    async script(exchange) {
      exchange.beginEvents();
      await exchange.send("data: ");
      await exchange.flood("x".repeat(1_000));
    },
    settings: { max_event_bytes: 10_000 },
    code: "upstream_failed",
    message: /more than 10000 bytes/,
    only: "stream",
  },
  ...["data: nonsense\n\n", 'data: {"id":"1","choices":5}\n\n', 'data: {"choices":[5]}\n\n'].map(
    (text): Misbehaviour => ({
      name: `begins a stream with ${JSON.stringify(text)}`,
      async script(exchange) {
        exchange.beginEvents();
        await exchange.send(text);
        await exchange.stall();
      },
      code: "upstream_failed",
      message: /invalid response/,
      only: "stream",
    }),
  ),
  {
    name: "sends nonsense after the first chunk",
    async script(exchange) {
      exchange.beginEvents();
      await exchange.sendEvents(hello, "nonsense");
      await exchange.stall();
    },
    code: "upstream_failed",
    message: /not JSON/,
    before: "Hel",
    only: "stream",
  },
];

async function provoke(misbehaviour: Misbehaviour, isStream: boolean): Promise<void> {
  await using upstream = await startScriptedUpstream(misbehaviour.script);
  const engine = openEngine(upstream.url, misbehaviour.settings);
  const model = chatModel(engine);
  const call = toCall({ stream: isStream });
  if (isStream) {
    const { chunks, error } = await collect(model.stream(call));
    assert.equal(error?.code, misbehaviour.code, String(error?.stack));
    assert.match(error.message, misbehaviour.message);
    const { before = "" } = misbehaviour;
    if (typeof before === "string") assert.equal(contentOf(chunks), before);
    else assert.match(contentOf(chunks), before);
    assert.equal(chunks.length > 0, misbehaviour.before !== undefined, "chunks before the error");
  } else {
    await assert.rejects(model.complete(call), { code: misbehaviour.code, message: misbehaviour.message });
  }
  await engine.close();
  await upstream.until(() => upstream.openSockets === 0, "every connection is closed");
  assert.equal(upstream.exchanges.length, 1);
}

for (const mode of ["batch", "stream"] as const) {
  describe(`a ${mode} call ends well when the engine`, () => {
    for (const misbehaviour of misbehaviours) {
      if ((misbehaviour.only ?? mode) !== mode) continue;
      test(misbehaviour.name, { timeout: 20_000 }, () => provoke(misbehaviour, mode === "stream"));
    }
  });
}

/** Streams of the Responses and Messages APIs whose upstream ends or cuts them after each of their bytes. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startScriptedUpstream, type ScriptedUpstream } from "../packages/server/test/support/scripted-upstream.ts";
import { beforeTests } from "./support/hooks.ts";
import { anthropicEvents, chatChunk, readEvents, toChatWire, toWire } from "./support/messages-server.ts";
import { openAiEvents, toResponsesWire } from "./support/responses-server.ts";
import { startServer, type RunningServer } from "./support/running-server.ts";

const chatText = toChatWire([chatChunk({ role: "assistant", content: "Grüße 👋" }), chatChunk({}, "stop"), "[DONE]"]);
const messageText = toWire([anthropicEvents[0]!, ...anthropicEvents.slice(6, 8), ...anthropicEvents.slice(-2)]);
const responseText = toResponsesWire([openAiEvents[0]!, ...openAiEvents.slice(-2)]);

const wires = {
  responses: { path: "/v1/responses", last: "response.completed", failure: "response.failed" },
  messages: { path: "/v1/messages", last: "message_stop", failure: "error" },
} as const;
const bodies = { responses: { input: "Hello", store: false }, messages: { max_tokens: 10, messages: [] } } as const;

/** The text of a stream, and what it must contain at least to be complete. */
const cases = [
  { wire: "responses", model: "assistant", text: chatText, ending: '"stop"}]}' },
  { wire: "messages", model: "assistant", text: chatText, ending: '"stop"}]}' },
  { wire: "responses", model: "native", text: responseText, ending: '"a_new_member":true}}' },
  { wire: "messages", model: "native", text: messageText, ending: '{"type":"message_stop"}' },
] as const;

describe("a stream that its upstream does not complete", { timeout: 240_000 }, () => {
  let upstream: ScriptedUpstream;
  let server: RunningServer;
  beforeTests(async (stack) => {
    upstream = stack.use(await startScriptedUpstream((exchange) => exchange.answer({}, 500)));
    server = stack.use(
      await startServer(`
discovery: { enabled: false }
engines:
  chat: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [upstream] }
  native: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [upstream], wires: [responses, messages] }
models:
  assistant: { targets: [{ engine: chat, model: upstream }], retries: { attempts: 0 } }
  native: { targets: [{ engine: native, model: upstream }], retries: { attempts: 0 } }
routing: { failure_threshold: 100000 }
`),
    );
  });

  for (const { wire, model, text, ending } of cases) {
    // A connection that breaks is never an end, wherever it is.
    for (const [end, step] of [
      ["ends", 1],
      ["is cut", 13],
    ] as const) {
      test(`never looks complete: ${model} in ${wire}, which ${end} after any byte`, async () => {
        const { path, last, failure } = wires[wire];
        const bytes = Buffer.from(text);
        const needed = bytes.lastIndexOf(ending) + Buffer.byteLength(ending);
        const messages = wire === "messages" ? [{ role: "user", content: "Hello" }] : undefined;
        for (let at = 0; at <= bytes.length; at += step) {
          upstream.script = async (exchange) => {
            exchange.beginEvents();
            if (at > 0) await exchange.drip([bytes.subarray(0, at)]);
            if (end === "ends") exchange.end();
            else exchange.cut();
          };
          const response = await fetch(`${server.url}${path}`, {
            method: "POST",
            body: JSON.stringify({ ...bodies[wire], messages, model, stream: true }),
            headers: { authorization: `Bearer ${server.key}`, "content-type": "application/json" },
          });
          if (response.status !== 200) {
            const { error } = (await response.json()) as { error: { message: string } };
            assert.ok(response.status >= 500 && error.message !== "" && at < needed, `${at}: ${response.status}`);
            continue;
          }
          const events = await readEvents(response);
          const names = events.map(({ name }) => name);
          for (const { data } of events) JSON.parse(data);
          const isComplete = names.at(-1) === last;
          assert.ok(isComplete || names.at(-1) === failure, `${at}: ${names.join(" ")}`);
          assert.equal(names.filter((name) => name === last || name === failure).length, 1);
          assert.ok(!isComplete || at >= needed, `complete after ${at} of ${needed} bytes`);
          if (at === bytes.length && end === "ends") assert.ok(isComplete, names.join(" "));
        }
      });
    }
  }
});

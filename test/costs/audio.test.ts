/** What speech and transcription cost: by characters, minutes and tokens, in answers, streams and spans. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AsyncSounding } from "@sounding/client";
import { startScriptedUpstream } from "../../packages/server/test/support/scripted-upstream.ts";
import { formOf, toneFile } from "../../packages/server/test/support/test-transcription.ts";
import { attributesOf, newTrace, spansOf } from "../support/call-spans.ts";
import { beforeTests } from "../support/hooks.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "../support/running-server.ts";

/** 24 kHz, as OpenAI sends it: one second. */
const second = Buffer.alloc(48_000);
const text = "Ten chars!";
const tokenUsage = {
  type: "tokens",
  input_tokens: 114,
  input_token_details: { text_tokens: 14, audio_tokens: 100 },
  output_tokens: 45,
  total_tokens: 159,
};
/** 14, 100 and 45 tokens at $2.5, $6 and $10 for a million. */
const tokenCost = 0.001_085;

describe("the cost of audio", () => {
  let server: RunningServer;
  let sounding: AsyncSounding;
  beforeTests(async (stack) => {
    const upstream = await startScriptedUpstream(async (exchange) => {
      if (exchange.path.endsWith("/speech")) {
        exchange.begin(200, { "content-type": "audio/pcm" });
        await exchange.send(second);
        return exchange.end();
      }
      const body = exchange.body.toString("latin1");
      const usage = body.includes("gpt-4o-transcribe") ? tokenUsage : { type: "duration", seconds: 2 };
      if (!body.includes('name="stream"')) return exchange.answer({ text: "Yes.", usage });
      exchange.beginEvents();
      await exchange.sendEvents(
        { type: "transcript.text.delta", delta: "Yes." },
        { type: "transcript.text.done", text: "Yes.", usage },
      );
      exchange.end();
    });
    stack.defer(() => upstream.close());
    const models = "[by-characters, by-minutes, unpriced-tts, whisper-1, gpt-4o-transcribe, counted]";
    server = stack.use(
      await startServer(
        `engines:
  remote:
    type: openai_compatible
    base_url: "${upstream.url}/v1"
    models: ${models}
    capabilities: { by-characters: [speech], by-minutes: [speech], unpriced-tts: [speech], counted: [transcription] }
telemetry:
  token_prices:
    by-characters: { characters: 15 }
    by-minutes: { audio_minute: 0.6 }
    whisper-1: {}
    gpt-4o-transcribe: {}
    counted: { request: 0.01, audio_minute: 0.3 }
`,
        { telemetry: true },
      ),
    );
    await untilTelemetryReady(server);
    sounding = new AsyncSounding({ apiKey: server.key, baseUrl: server.url, maxRetries: 0 });
  });

  const recorded = async (path: string, body: string | FormData, headers: Record<string, string> = {}) => {
    const { traceId, headers: trace } = newTrace();
    const response = await fetch(`${server.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${server.key}`, ...trace, ...headers },
      body,
    });
    const answer = Buffer.from(await response.arrayBuffer()).toString("latin1");
    assert.equal(response.status, 200, answer);
    const [span] = await spansOf(sounding, traceId, 1);
    return { response, answer, cost: attributesOf(span!)["gen_ai.usage.cost"] };
  };
  const speak = (model: string, more: object = {}) =>
    recorded("/v1/audio/speech", JSON.stringify({ model, voice: "alloy", input: text, ...more }), {
      "content-type": "application/json",
    });
  const transcribe = (model: string, more: Readonly<Record<string, string>> = {}) =>
    recorded("/v1/audio/transcriptions", formOf({ model, ...more, file: toneFile(1) }));

  for (const [model, cost] of [
    ["by-characters", 0.000_15],
    ["by-minutes", 0.01],
  ] as const) {
    test(`that was spoken is charged ${model}`, async () => {
      const { response, cost: ofSpan } = await speak(model, { response_format: "pcm" });
      assert.equal(response.headers.get("x-cost"), String(cost));
      assert.equal(ofSpan, cost);
    });

    test(`that was spoken is charged ${model} in a stream`, async () => {
      const { answer, cost: ofSpan, response } = await speak(model, { stream_format: "sse" });
      const last = JSON.parse(
        answer
          .trim()
          .split("\n")
          .at(-1)!
          .replace(/^data: /, ""),
      ) as { usage: { cost: number } };
      assert.deepEqual([last.usage.cost, ofSpan, response.headers.get("x-cost")], [cost, cost, null]);
    });
  }

  test("that was spoken is not told for a model without a price", async () => {
    const { response, cost } = await speak("unpriced-tts");
    assert.deepEqual([response.headers.get("x-cost"), cost], [null, undefined]);
  });

  for (const [model, cost, usage] of [
    ["whisper-1", 0.000_2, { type: "duration", seconds: 2 }],
    ["gpt-4o-transcribe", tokenCost, tokenUsage],
    ["counted", 0.02, { type: "duration", seconds: 2 }],
  ] as const) {
    test(`that was transcribed by ${model} is what the upstream reports`, async () => {
      for (const more of [{ response_format: "json" }, { response_format: "verbose_json" }, { stream: "true" }]) {
        const { answer, cost: ofSpan, response } = await transcribe(model, more);
        const last = answer
          .trim()
          .split("\n")
          .findLast((line) => line.includes("{"));
        const told = (JSON.parse(last!.replace(/^data: /, "")) as { usage: Record<string, unknown> }).usage;
        const { cost: inAnswer, cost_details: _, ...rest } = told;
        assert.deepEqual(rest, usage, JSON.stringify(more));
        assert.deepEqual([inAnswer, ofSpan], [cost, cost]);
        assert.equal(response.headers.get("x-cost"), "stream" in more ? null : String(cost));
      }
    });
  }
});

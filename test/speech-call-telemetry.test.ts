/** Every speech call appears in the telemetry of its caller's project, with the real server, store and engine. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AsyncSounding } from "@sounding/client";
import { startScriptedUpstream, type ScriptedUpstream } from "../packages/server/test/support/scripted-upstream.ts";
import { attributesOf, newTrace, spansOf } from "./support/call-spans.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";
import { beforeTests } from "./support/hooks.ts";

const input = "The recorded secret is out.";

let upstream: ScriptedUpstream;
let server: RunningServer;
let client: AsyncSounding;

beforeTests(async (stack) => {
  upstream = await startScriptedUpstream((exchange) => exchange.answer({ error: { message: "down" } }, 503));
  stack.defer(() => upstream.close());
  server = stack.use(
    await startServer(
      `
engines:
  remote: { type: openai_compatible, base_url: "${upstream.url}/v1" }
models:
  narrator: { targets: [{ engine: flite, model: flite }] }
  failing: { targets: [{ engine: remote, model: m }], retries: { attempts: 0, backoff_ms: 1 } }
  falling: { targets: [{ engine: remote, model: m }], fallbacks: [narrator], retries: { attempts: 0, backoff_ms: 1 } }
`,
      { telemetry: true },
    ),
  );
  await untilTelemetryReady(server);
  client = new AsyncSounding({ apiKey: server.key, baseUrl: server.url, maxRetries: 0 });
});

const speak = (body: Record<string, unknown>, headers: Record<string, string>): Promise<Response> =>
  server.call("/v1/audio/speech", { model: "narrator", voice: "rms", input, ...body }, headers);

describe("a speech call", { timeout: 120_000 }, () => {
  test("is a span in the caller's trace with its length, its voice and its first audio", async () => {
    const { traceId, headers } = newTrace();
    const response = await speak({ response_format: "pcm" }, { ...headers, "x-request-id": "call-1" });
    const seconds = (await response.arrayBuffer()).byteLength / 2 / 16_000;
    const [span] = await spansOf(client, traceId, 1);
    assert.equal(span!.name, "speech narrator");
    assert.equal(span!.kind, "SPAN_KIND_CLIENT");
    assert.equal(span!.parentSpanId, Buffer.from("00f067aa0ba902b7", "hex").toString("base64"));
    const {
      "sounding.key.id": keyId,
      "sounding.key.name": keyName,
      "sounding.speech.time_to_first_audio": firstAudio,
      "sounding.audio.duration": duration,
      ...attributes
    } = attributesOf(span!);
    assert.match(String(keyId), /^key_/);
    assert.equal(keyName, "first key");
    assert.ok(Number(firstAudio) > 0 && Number(firstAudio) < 60, `first audio after ${String(firstAudio)} s`);
    assert.ok(Math.abs(Number(duration) - seconds) < 0.001, `${String(duration)} s, not ${seconds} s`);
    assert.deepEqual(attributes, {
      "gen_ai.operation.name": "speech",
      "gen_ai.provider.name": "flite",
      "gen_ai.output.type": "speech",
      "gen_ai.request.model": "narrator",
      "gen_ai.request.voice": "rms",
      "gen_ai.response.model": "narrator",
      "sounding.speech.format": "pcm",
      "sounding.speech.characters": String(input.length),
      "client.address": "127.0.0.1",
      "sounding.request.id": "call-1",
      "sounding.engine": "flite",
    });
  });

  test("is counted by the presets and at /metrics", async () => {
    const headers = { "x-project": "counted" };
    for (const stream of [false, true]) await (await speak({ stream }, headers)).arrayBuffer();
    const preset = async (metric: string) => {
      const { samples } = await client.metrics.query({ metric, project_name: "counted" });
      return samples.map(({ metric: labels, value }) => [labels, Number(value?.[1])] as const);
    };
    for (;;) {
      const [requests] = await preset("inference_requests_total");
      if (requests?.[1] === 2) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.deepEqual(await preset("speech_characters_total"), [
      [{ model_key: "narrator", voice: "rms" }, 2 * input.length],
    ]);
    const [latency] = await preset("speech_first_audio_latency");
    assert.ok(latency !== undefined && latency[1] > 0 && latency[1] < 60, JSON.stringify(latency));
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    assert.match(metrics, /^sounding_speech_total\{model="narrator",format="wav",outcome="ok",stream="true"\} 1$/m);
    assert.match(metrics, /^sounding_speech_duration_seconds_count\{model="narrator"\} [23]$/m);
  });

  test("that fell back has its attempts as child spans", async () => {
    const { traceId, headers } = newTrace();
    assert.equal((await speak({ model: "falling", voice: "alloy", stream: true }, headers)).status, 200);
    const spans = await spansOf(client, traceId, 3);
    const call = spans.find(({ name }) => name === "speech falling")!;
    const attempts = spans.filter((span) => span.parentSpanId === call.spanId);
    assert.deepEqual(Object.fromEntries(attempts.map(({ name, status }) => [name, status.code])), {
      "attempt remote": "STATUS_CODE_ERROR",
      "attempt flite": undefined,
    });
    const failed = attempts.find(({ name }) => name === "attempt remote")!;
    assert.equal(failed.status.message, "The engine is overloaded. Retry later.");
    assert.equal(attributesOf(failed)["sounding.upstream.status_code"], "503");
    assert.deepEqual([attributesOf(call)["sounding.engine"], attributesOf(call)["sounding.attempts"]], ["flite", "2"]);
  });

  test("that fails is an error span and a log record of the same trace; one that is refused is a warning", async () => {
    for (const [body, status, severity, type, message] of [
      [{ model: "failing", voice: "x" }, 503, "error", "overloaded", /^Speech synthesis with failing failed: /],
      [{ model: "none" }, 404, "warning", "model_not_found", /^Speech synthesis with none failed: /],
      // The caller's text is content, which is not logged.
      [
        { voice: input },
        400,
        "warning",
        "invalid_request",
        /^Speech synthesis with narrator failed: invalid_request: voice$/,
      ],
    ] as const) {
      const { traceId, headers } = newTrace();
      assert.equal((await speak(body, headers)).status, status);
      const [span] = await spansOf(client, traceId, 1);
      assert.equal(span!.status.code, "STATUS_CODE_ERROR");
      const { "error.type": errorType, "sounding.upstream.status_code": upstreamStatus } = attributesOf(span!);
      assert.deepEqual([errorType, upstreamStatus], [type, type === "overloaded" ? "503" : undefined]);
      const logs = await client.logs.query({ severity });
      const sample = logs.samples.find(({ stream }) => stream["trace_id"] === traceId)!;
      assert.match(sample.values[0]![1], message);
    }
  });

  test("that is refused has its real duration, also below a millisecond", async () => {
    for (let call = 0; call < 5; call += 1) {
      const { traceId, headers } = newTrace();
      await assert.rejects(client.audio.speech.create({ model: "none", voice: "x", input: "Hello." }, { headers }));
      const [span] = await spansOf(client, traceId, 1);
      assert.ok(BigInt(span!.endTimeUnixNano!) > BigInt(span!.startTimeUnixNano!));
    }
  });

  test("whose caller disconnected is not an error", async () => {
    const { traceId, headers } = newTrace();
    const leave = new AbortController();
    const response = await fetch(`${server.url}/v1/audio/speech`, {
      method: "POST",
      body: JSON.stringify({ model: "narrator", voice: "rms", input: `${input} `.repeat(200), stream: true }),
      headers: { authorization: `Bearer ${server.key}`, "content-type": "application/json", ...headers },
      signal: leave.signal,
    });
    await response.body!.getReader().read();
    leave.abort();
    const [span] = await spansOf(client, traceId, 1);
    assert.deepEqual(span!.status, {});
    const attributes = attributesOf(span!);
    assert.equal(attributes["error.type"], "client_closed");
    assert.ok(Number(attributes["sounding.audio.duration"]) > 0);
  });

  test("records no text unless the project's settings enable it", async () => {
    const made = await server.call(
      "/admin/v1/projects",
      { name: "recorded", settings: { record_content: true } },
      { authorization: `Bearer ${server.operatorKey}` },
    );
    assert.equal(made.status, 201, await made.clone().text());
    const contents: unknown[] = [];
    for (const project of ["default", "recorded"]) {
      const { traceId, headers } = newTrace();
      await (await speak({}, { ...headers, "x-project": project })).arrayBuffer();
      const [span] = await spansOf(client, traceId, 1);
      contents.push(attributesOf(span!)["gen_ai.input.messages"]);
    }
    assert.deepEqual(contents, [
      undefined,
      JSON.stringify([{ role: "user", parts: [{ type: "text", content: input }] }]),
    ]);
  });
});

/** Every transcription appears in the telemetry of its caller's project, with the real server, store and engine. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AsyncSounding } from "@sounding/client";
import { attributesOf, newTrace, spansOf } from "./support/call-spans.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";
import { beforeTests } from "./support/hooks.ts";
import { needs } from "./support/needs.ts";

describe("a transcription", { skip: needs("pocketsphinx"), timeout: 120_000 }, () => {
  let server: RunningServer;
  let client: AsyncSounding;
  let recording: Blob;

  beforeTests(async (stack) => {
    server = stack.use(await startServer("", { telemetry: true }));
    await untilTelemetryReady(server);
    client = new AsyncSounding({ apiKey: server.key, baseUrl: server.url, maxRetries: 0 });
    const spoken = await server.call("/v1/audio/speech", {
      model: "flite",
      voice: "rms",
      input: "Good morning, everyone.",
    });
    recording = await spoken.blob();
  });

  const transcribe = (fields: Record<string, string>, headers: Record<string, string>): Promise<Response> => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ model: "pocketsphinx", ...fields })) form.append(name, value);
    form.append("file", recording, "talk.wav");
    const url = `${server.url}/v1/audio/transcriptions`;
    return fetch(url, { method: "POST", body: form, headers: { authorization: `Bearer ${server.key}`, ...headers } });
  };

  test("is a span in the caller's trace with its length, its pace and its confidence", async () => {
    for (const stream of ["false", "true"]) {
      const { traceId, headers } = newTrace();
      const response = await transcribe({ stream }, { ...headers, "x-request-id": "call-1" });
      assert.match(await response.text(), /morning/);
      const [span] = await spansOf(client, traceId, 1);
      assert.equal(span!.name, "transcription pocketsphinx");
      assert.deepEqual(span!.status, {});
      const attributes = attributesOf(span!);
      const between = (name: string, least: number, most: number): void => {
        const value = Number(attributes[name]);
        assert.ok(value > least && value < most, `${name} is ${value}`);
      };
      between("sounding.audio.duration", 1, 5);
      between("sounding.transcription.realtime_factor", 0, 50);
      between("sounding.transcription.confidence", 0.1, 1.001);
      between("sounding.transcription.time_to_first_text", 0, 60);
      assert.equal(attributes["sounding.transcription.language"], "en-US");
      assert.equal(attributes["sounding.engine"], "pocketsphinx");
      assert.equal(attributes["gen_ai.request.stream"], stream === "true" ? true : undefined);
      assert.equal(attributes["gen_ai.output.messages"], undefined);
    }
  });

  test("is counted by the presets and at /metrics", async () => {
    await (await transcribe({}, { "x-project": "counted" })).text();
    const preset = async (metric: string): Promise<number> => {
      const { samples } = await client.metrics.query({ metric, project_name: "counted" });
      return Number(samples[0]?.value?.[1]);
    };
    while (!((await preset("transcription_audio_seconds_total")) > 1))
      await new Promise((resolve) => setTimeout(resolve, 50));
    assert.ok((await preset("transcription_realtime_factor")) > 0);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    assert.match(metrics, /^sounding_transcription_total\{model="pocketsphinx",outcome="ok",stream="true"\} 1$/m);
    assert.match(metrics, /^sounding_transcription_realtime_factor_count\{model="pocketsphinx"\} [23]$/m);
  });

  test("that is refused is a warning in the same trace", async () => {
    const { traceId, headers } = newTrace();
    assert.equal((await transcribe({ model: "none" }, headers)).status, 404);
    const [span] = await spansOf(client, traceId, 1);
    assert.equal(attributesOf(span!)["error.type"], "model_not_found");
    const logs = await client.logs.query({ severity: "warning" });
    assert.ok(logs.samples.some(({ stream }) => stream["trace_id"] === traceId));
  });
});

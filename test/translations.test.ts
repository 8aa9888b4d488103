/** Translations of recordings: by OpenAI-compatible servers that have them, and refused by name elsewhere. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AsyncSounding } from "@sounding/client";
import OpenAI from "openai";
import type { JsonObject } from "../packages/server/src/json-object.ts";
import {
  startScriptedUpstream,
  type ScriptedExchange,
  type ScriptedUpstream,
} from "../packages/server/test/support/scripted-upstream.ts";
import { toneFile } from "../packages/server/test/support/test-transcription.ts";
import { attributesOf, newTrace, spansOf } from "./support/call-spans.ts";
import { beforeTests } from "./support/hooks.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";

const verbose = {
  task: "translate",
  language: "german",
  duration: 1,
  text: "Good day.",
  segments: [{ id: 0, start: 0, end: 1, text: " Good day.", avg_logprob: -0.2 }],
};

describe("translations", () => {
  let upstream: ScriptedUpstream;
  let server: RunningServer;
  beforeTests(async (stack) => {
    upstream = stack.use(await startScriptedUpstream((exchange) => exchange.answer(verbose)));
    server = stack.use(
      await startServer(
        `
discovery: { enabled: false }
engines:
  whisper: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [whisper-large, a-transcribe-diarize] }
  azure: { type: azure_openai, base_url: "${upstream.url}", api_key: a, api_version: "2024-06-01", deployments: { w: d } }
models:
  whisper: { targets: [{ engine: whisper, model: whisper-large }], retries: { attempts: 0 } }
  azure: { targets: [{ engine: azure, model: w }], retries: { attempts: 0 } }
  diarize: { targets: [{ engine: whisper, model: a-transcribe-diarize }], retries: { attempts: 0 } }
`,
        { telemetry: true },
      ),
    );
    await untilTelemetryReady(server);
  });

  async function translate(fields: Readonly<Record<string, string>>, headers: Record<string, string> = {}) {
    const form = new FormData();
    for (const [name, value] of Object.entries({ model: "whisper", ...fields })) form.append(name, value);
    form.append("file", toneFile());
    const response = await fetch(`${server.url}/v1/audio/translations`, {
      method: "POST",
      headers: { authorization: `Bearer ${server.key}`, ...headers },
      body: form,
    });
    return { status: response.status, body: (await response.json()) as JsonObject };
  }

  async function sentFields({ body, headers }: ScriptedExchange): Promise<[string, unknown][]> {
    const type = headers["content-type"]!;
    const form = await new Response(Uint8Array.from(body), { headers: { "content-type": type } }).formData();
    return [...form].filter(([, value]) => typeof value === "string");
  }

  test("are made by the engine, which gets only their parameters", async () => {
    const { body, status } = await translate({ prompt: "Guten Tag", temperature: "0.5" });
    assert.deepEqual([status, body], [200, { text: "Good day." }]);
    const exchange = upstream.exchanges.at(-1)!;
    assert.equal(exchange.path, "/v1/audio/translations");
    assert.deepEqual(await sentFields(exchange), [
      ["model", "whisper-large"],
      ["response_format", "verbose_json"],
      ["prompt", "Guten Tag"],
      ["temperature", "0.5"],
    ]);
    const { body: whole } = await translate({ response_format: "verbose_json" });
    assert.deepEqual([whole["task"], whole["language"], whole["text"]], ["translate", "en-US", "Good day."]);
    assert.equal((whole["segments"] as JsonObject[]).length, 1);
    assert.equal((await translate({ model: "azure" })).status, 200);
    assert.equal(upstream.exchanges.at(-1)!.path, "/openai/deployments/d/audio/translations?api-version=2024-06-01");
  });

  test("are refused by name where a model cannot, and with what they do not have", async () => {
    const before = upstream.exchanges.length;
    for (const [param, fields] of [
      ["model", { model: "diarize" }],
      ["language", { language: "de" }],
      ["stream", { stream: "true" }],
      ["timestamp_granularities", { response_format: "verbose_json", timestamp_granularities: '["word"]' }],
      ["chunking_strategy", { chunking_strategy: "auto" }],
      ["include", { "include[]": "logprobs" }],
    ] as const) {
      const { body, status } = await translate(fields);
      const { code, param: named } = body["error"] as JsonObject;
      assert.deepEqual([status, code, named], [400, "unsupported_parameter", param], JSON.stringify(body));
    }
    assert.equal(upstream.exchanges.length, before);
    assert.equal((await translate({ model: "unknown" })).status, 404);
    assert.equal((await translate({ stream: "false", language: "" })).status, 200);
  });

  test("work with OpenAI's SDK, and have the span of a transcription", async () => {
    const sdk = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.key, maxRetries: 0 });
    const { headers, traceId } = newTrace();
    const translation = await sdk.audio.translations.create({ model: "whisper", file: toneFile() }, { headers });
    assert.equal(translation.text, "Good day.");
    const client = new AsyncSounding({ apiKey: server.key, baseUrl: server.url, maxRetries: 0 });
    const [span] = await spansOf(client, traceId, 1);
    assert.equal(attributesOf(span!)["gen_ai.operation.name"], "transcription");
  });
});

/** A server with OpenTelemetry's own variables exports its requests to any OTLP endpoint, here another Sounding. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { AsyncSounding } from "@sounding/client";
import { wantsProcessTelemetry } from "../packages/server/src/config/process-telemetry.ts";
import { startServer, untilTelemetryReady } from "./support/running-server.ts";
import { serveProcess } from "./support/served-process.ts";

test("requests of a server that has OTEL_EXPORTER_OTLP_ENDPOINT are exported there", { timeout: 120_000 }, async () => {
  await using observer = await startServer("", { telemetry: true });
  await untilTelemetryReady(observer);
  const served = await serveProcess({
    OTEL_EXPORTER_OTLP_ENDPOINT: observer.url,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${observer.key}`,
    OTEL_SERVICE_NAME: "observed-sounding",
    SOUNDING_TELEMETRY_ENABLED: "false",
  });
  try {
    const [, url] = /(http:\/\/127\.0\.0\.1:\d+)/.exec(served.output.stdout)!;
    const [key] = /sk-[\w-]{43}/.exec(served.output.stdout)!;
    assert.equal((await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status, 200);
    assert.equal((await fetch(`${url}/v1/models`)).status, 401);
    assert.equal(await served.end(), 0, served.output.stderr);
    const client = new AsyncSounding({ apiKey: observer.key, baseUrl: observer.url });
    const { traces, spans } = await client.traces.query({ trace: "all_traces" });
    assert.ok(traces.every(({ rootServiceName }) => rootServiceName === "observed-sounding"));
    const seen = spans
      .filter(({ name }) => name === "GET /v1/models")
      .map(({ attributes = [] }) =>
        Object.fromEntries(attributes.map(({ key: name, value }) => [name, Object.values(value)[0]])),
      );
    const common = { "http.request.method": "GET", "http.route": "/v1/models" };
    assert.deepEqual(
      seen.sort(
        (left, right) => Number(left["http.response.status_code"]) - Number(right["http.response.status_code"]),
      ),
      [
        { ...common, "http.response.status_code": "200" },
        { ...common, "http.response.status_code": "401", "error.type": "invalid_api_key" },
      ],
    );
  } finally {
    await served[Symbol.asyncDispose]();
  }
});

test("the process is observed only if the environment names an endpoint", () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };
  assert.equal(wantsProcessTelemetry({}), false);
  assert.equal(wantsProcessTelemetry({ OTEL_EXPORTER_OTLP_ENDPOINT: " " }), false);
  assert.equal(wantsProcessTelemetry(endpoint), true);
  assert.equal(wantsProcessTelemetry({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://127.0.0.1:4318/v1/traces" }), true);
  assert.equal(wantsProcessTelemetry({ ...endpoint, OTEL_SDK_DISABLED: "True" }), false);
});

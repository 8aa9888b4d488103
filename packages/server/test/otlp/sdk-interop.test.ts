/** OpenTelemetry's own Node SDK, unchanged, against the server: every protocol, with and without compression. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { BlockRow } from "./block-reader.ts";
import { startOtlp } from "./otlp-server.ts";
import { testSecret } from "../support/test-http.ts";
import { childEnvironment } from "../../../../test/support/child-environment.ts";

const run = promisify(execFile);
const application = fileURLToPath(new URL("sdk-application.ts", import.meta.url));

const mediaTypes: Record<string, string> = {
  "http/protobuf": "application/x-protobuf",
  "http/json": "application/json",
};

async function runApplication(environment: Record<string, string>): Promise<string> {
  const { stdout, stderr } = await run(process.execPath, [application], {
    timeout: 60_000,
    env: {
      ...childEnvironment,
      OTEL_TRACES_EXPORTER: "otlp",
      OTEL_LOGS_EXPORTER: "otlp",
      OTEL_METRICS_EXPORTER: "otlp",
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${testSecret}`,
      OTEL_SERVICE_NAME: "support-bot",
      OTEL_RESOURCE_ATTRIBUTES: "project.name=desk",
      OTEL_NODE_RESOURCE_DETECTORS: "env",
      OTEL_LOG_LEVEL: "warn",
      ...environment,
    },
  });
  return stdout + stderr;
}

describe("the SDK of OpenTelemetry", () => {
  for (const protocol of ["http/protobuf", "http/json", "grpc"]) {
    for (const compression of ["none", "gzip"]) {
      test(`sends traces, logs and metrics by ${protocol} with the compression ${compression}`, async () => {
        await using server = await startOtlp();
        const output = await runApplication({
          OTEL_EXPORTER_OTLP_ENDPOINT: protocol === "grpc" ? server.grpcUrl : server.url,
          OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
          OTEL_EXPORTER_OTLP_COMPRESSION: compression,
        });
        assert.equal(output, "");
        assert.deepEqual(server.encodings(), protocol in mediaTypes ? [`${mediaTypes[protocol]} ${compression}`] : []);
        checkSpans(server.store.rows("spans"), server.store.rows("span_details"));
        checkLogs(server.store.rows("logs"), server.store.rows("spans"));
        checkMetrics(server.store);
        const [resource] = server.store.rows("resources");
        assert.ok(
          (resource!["attributes"] as string[][]).some(
            ([key, value]) => key === "service.name" && value === "support-bot",
          ),
        );
      });
    }
  }
});

function byName(rows: readonly BlockRow[], name: string): BlockRow {
  const row = rows.find((each) => each["name"] === name);
  assert.ok(row !== undefined, `no row is called ${name}`);
  return row;
}

function checkSpans(spans: readonly BlockRow[], details: readonly BlockRow[]): void {
  assert.equal(spans.length, 2);
  const agent = byName(spans, "invoke_agent helper");
  const chat = byName(spans, "chat gpt-4o");
  assert.equal(chat["parent_span_id"], agent["span_id"]);
  assert.equal(chat["trace_id"], agent["trace_id"]);
  assert.deepEqual(
    [
      chat["organization"],
      chat["project"],
      chat["service"],
      chat["operation"],
      chat["request_model"],
      chat["input_tokens"],
    ],
    ["org_test", "desk", "support-bot", "chat", "gpt-4o", 812n],
  );
  assert.deepEqual([chat["status_code"], chat["status_message"]], [2, "too late"]);
  assert.deepEqual(
    new Map(chat["attributes"] as [string, string][]).get("gen_ai.response.finish_reasons"),
    '{"arrayValue":{"values":[{"stringValue":"stop"},{"stringValue":"length"}]}}',
  );
  assert.equal(agent["agent_name"], "helper");
  assert.deepEqual(details[0]?.["event_names"], ["first token", "exception"]);
}

function checkLogs(logs: readonly BlockRow[], spans: readonly BlockRow[]): void {
  const [log, ...others] = logs;
  assert.deepEqual(others, []);
  assert.deepEqual([log?.["body"], log?.["level"], log?.["severity_text"]], ["the model was too late", 4, "ERROR"]);
  assert.equal(log?.["span_id"], byName(spans, "chat gpt-4o")["span_id"]);
}

function checkMetrics(store: { rows(table: "series" | "points" | "distribution_points"): BlockRow[] }): void {
  const values = new Map(store.rows("points").map((row) => [row["metric"], row["value"]]));
  assert.deepEqual([values.get("requests"), values.get("queue")], [3, 7.5]);
  const [latency] = store.rows("distribution_points");
  assert.deepEqual([latency?.["metric"], latency?.["count"], latency?.["sum"]], ["latency", 1n, 0.25]);
  const requests = store.rows("series").find((row) => row["metric"] === "requests");
  assert.deepEqual(
    [
      requests?.["type"],
      requests?.["temporality"],
      requests?.["monotonic"],
      requests?.["unit"],
      requests?.["attributes"],
    ],
    [2, 2, 1, "{request}", [["model", "gpt-4o"]]],
  );
}

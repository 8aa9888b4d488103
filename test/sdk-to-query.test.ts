/** From OpenTelemetry's own SDK through the whole server and its store to query results. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { startServer, untilTelemetryReady } from "./support/running-server.ts";
import { repository } from "./support/served-process.ts";
import { childEnvironment } from "./support/child-environment.ts";

const run = promisify(execFile);

interface Traces {
  readonly traces: {
    readonly rootTraceName: string;
    readonly rootServiceName: string;
    readonly batches: { readonly scopeSpans: { readonly spans: { readonly name: string }[] }[] }[];
  }[];
}
interface Logs {
  readonly data: {
    readonly result: { readonly stream: Record<string, string>; readonly values: [string, string][] }[];
  };
}

test("what the SDK sends is in query results, once, as soon as it is acknowledged", async () => {
  await using server = await startServer("", { telemetry: true });
  await untilTelemetryReady(server);
  const application = join(repository, "packages/server/test/otlp/sdk-application.ts");
  const env = {
    ...childEnvironment,
    OTEL_TRACES_EXPORTER: "otlp",
    OTEL_LOGS_EXPORTER: "otlp",
    OTEL_METRICS_EXPORTER: "otlp",
    OTEL_EXPORTER_OTLP_ENDPOINT: server.url,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${server.key}`,
    OTEL_SERVICE_NAME: "support-bot",
    OTEL_RESOURCE_ATTRIBUTES: "project.name=desk",
    OTEL_NODE_RESOURCE_DETECTORS: "env",
  };
  const { stdout, stderr } = await run(process.execPath, [application], { env });
  assert.equal(stdout + stderr, "");

  const query = { project_name: "desk", time_window: "1h" };
  const { traces } = (await (
    await server.call("/observability/traces", { ...query, trace: "agent_traces" })
  ).json()) as Traces;
  assert.deepEqual(
    traces.map(({ rootTraceName, rootServiceName }) => [rootTraceName, rootServiceName]),
    [["invoke_agent helper", "support-bot"]],
  );
  const spans = traces[0]!.batches.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  assert.deepEqual(spans.map(({ name }) => name).toSorted(), ["chat gpt-4o", "invoke_agent helper"]);

  const { data } = (await (await server.call("/observability/logs", { ...query, severity: "error" })).json()) as Logs;
  assert.deepEqual(
    data.result.flatMap(({ values }) => values.map(([, line]) => line)),
    ["the model was too late"],
  );
  assert.equal(data.result[0]?.stream["service_name"], "support-bot");
});

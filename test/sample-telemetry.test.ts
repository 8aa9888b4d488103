/** `sounding demo` and the deletion of what it sent, with the real server and its real store. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AsyncSounding } from "@sounding/client";
import { runSounding } from "../packages/cli/test/run-sounding.ts";
import { scope as otherScope, otlpSender } from "./support/otlp-sender.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";
import { beforeTests } from "./support/hooks.ts";

let server: RunningServer;
beforeTests(async (stack) => {
  server = stack.use(await startServer("", { telemetry: true }));
  await untilTelemetryReady(server);
});

async function newKey(organization: string, more: object = {}): Promise<string> {
  const admin = async (path: string, body: object): Promise<Record<string, string>> => {
    const headers = { authorization: `Bearer ${server.operatorKey}` };
    const response = await server.call(`/admin/v1${path}`, body, headers);
    assert.equal(response.status, 201, await response.clone().text());
    return (await response.json()) as Record<string, string>;
  };
  if (organization !== "") await admin("/organizations", { name: organization });
  const { secret } = await admin("/keys", {
    name: "k",
    ...(organization === "" ? {} : { organization_id: organization }),
    ...more,
  });
  return secret!;
}

async function demo(key: string, ...words: string[]): Promise<Record<string, number>> {
  const env = { SOUNDING_API_KEY: key, SOUNDING_BASE_URL: server.url };
  const { code, stdout, stderr } = await runSounding(["demo", "--json", ...words], { env });
  assert.deepEqual([code, stderr], [0, ""]);
  return JSON.parse(stdout) as Record<string, number>;
}

/** How many traces, spans and log entries of the sample application a project has. */
async function stored(key: string, project = "demo"): Promise<{ traces: number; spans: number; logs: number }> {
  const client = new AsyncSounding({ apiKey: key, baseUrl: server.url });
  const query = { project_name: project, time_window: "2h" };
  const { traces } = await client.traces.query({ ...query, trace: "all_traces", limit: 1000, detail: false });
  const { samples } = await client.logs.query({ ...query, limit: 5000 });
  return {
    traces: traces.length,
    spans: traces.reduce((sum, { summary }) => sum + summary.spanCount, 0),
    logs: samples.reduce((sum, { values }) => sum + values.length, 0),
  };
}

async function points(key: string): Promise<number> {
  const client = new AsyncSounding({ apiKey: key, baseUrl: server.url });
  const { data } = await client.metrics.promql({ query: 'sum(count_over_time({__name__=~"support_messages.*"}[2h]))' });
  const [first] = data.result as { value: [number, string] }[];
  return Number(first?.value[1] ?? 0);
}

describe("sample telemetry", { timeout: 180_000 }, () => {
  test("of two runs with the same seed adds up, and is deleted without touching anything else", async () => {
    const [own, neighbor] = [await newKey("acme"), await newKey("globex")];
    const first = await demo(own, "--seed", "7");
    const afterOne = await stored(own);
    const second = await demo(own, "--seed", "7");
    const afterTwo = await stored(own);
    assert.deepEqual([second["spans"], second["logs"]], [first["spans"], first["logs"]]);
    assert.deepEqual([afterOne.spans, afterTwo.spans], [first["spans"], 2 * first["spans"]!]);
    assert.deepEqual([afterTwo.traces, afterTwo.logs], [2 * afterOne.traces, 2 * first["logs"]!]);
    assert.ok((await points(own)) > 0);

    // Not samples: of another scope in the same project, also in a trace of the samples; samples of another project.
    const client = new AsyncSounding({ apiKey: own, baseUrl: server.url });
    const shown = await client.traces.query({ trace: "error_traces", project_name: "demo", limit: 1 });
    const { traceID } = shown.traces[0]!;
    const nowNano = BigInt(Date.now()) * 1_000_000n;
    const kept = { spanId: "a".repeat(16), startUnixNano: nowNano, duration: 5_000_000n };
    const failed = { status: { code: 2 }, events: [{ timeUnixNano: String(nowNano), name: "exception" }] };
    await otlpSender(server.url, own).spans({ "service.name": "real", "project.name": "demo" }, [
      { ...kept, traceId: "b".repeat(32), name: "real" },
      { ...kept, traceId: traceID, name: "joined", more: failed },
    ]);
    await otlpSender(server.url, own).logs({ "service.name": "real", "project.name": "demo" }, [
      { unixNano: nowNano, body: `of ${otherScope.name}` },
    ]);
    await demo(own, "--project", "other", "--seed", "8");
    await demo(neighbor, "--seed", "7");
    const [other, neighbors] = [await stored(own, "other"), await stored(neighbor)];

    const receipt = await demo(own, "--clear");
    assert.deepEqual(receipt, {
      object: "samples_deletion",
      project_name: "demo",
      spans: 2 * first["spans"]!,
      logs: 2 * first["logs"]!,
      points: 2 * first["metric_points"]!,
    });
    assert.deepEqual(await stored(own), { traces: 2, spans: 2, logs: 1 });
    const { spans } = await client.traces.query({ trace: "all_traces", trace_id: traceID });
    assert.deepEqual(
      spans.map(({ name, events }) => [name, events?.length]),
      [["joined", 1]],
    );
    assert.deepEqual([await stored(own, "other"), await stored(neighbor)], [other, neighbors]);
    assert.deepEqual(await demo(own, "--clear"), { ...receipt, spans: 0, logs: 0, points: 0 });
    await demo(own, "--seed", "7");
    assert.deepEqual((await stored(own)).spans, first["spans"]! + 2);
  });

  test("is deleted only by a key that may write telemetry, in its own organization and project", async () => {
    const reader = await newKey("", { permissions: ["telemetry_read"] });
    const ask = async (key: string, body: object): Promise<number> => {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      const response = await fetch(`${server.url}/observability/samples`, {
        method: "DELETE",
        headers,
        body: JSON.stringify(body),
      });
      return response.status;
    };
    assert.equal(await ask(reader, { project_name: "demo" }), 403);
    assert.equal(await ask(server.key, { project_name: "demo", organization_id: "globex" }), 403);
    assert.equal(await ask(server.key, {}), 400);
    assert.equal(await ask(server.key, { project_name: "demo" }), 200);
  });
});

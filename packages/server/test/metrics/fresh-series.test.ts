/** Queries remember an organization's series, and yet find those that were written after an earlier query. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startMetricsServer, type MetricsServer } from "./metrics-server.ts";
import { appendSeries, type SeriesRow } from "./telemetry-rows.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const nowMs = Date.now();

let server: MetricsServer;
beforeTests(async (stack) => {
  server = stack.use(await startMetricsServer());
});

function gauge(metric: string, pod: string, rest: Partial<SeriesRow> = {}): SeriesRow {
  return { metric, type: "gauge", attributes: { pod }, points: [{ timeMs: nowMs, value: 1 }], ...rest };
}

async function podsOf(query: string, key?: string): Promise<string[]> {
  const path = `/prometheus/api/v1/query?query=${encodeURIComponent(query)}&time=${nowMs / 1000}`;
  const { body } = await server.get(path, key);
  assert.equal(body.status, "success");
  return body.data.result.map(({ metric }: { metric: Record<string, string> }) => metric["pod"]!).sort();
}

test("a series of a known metric is found once it is written", async () => {
  await appendSeries(server.store, "org_a", [gauge("m", "p1")]);
  assert.deepEqual(await podsOf("m"), ["p1"]);
  await appendSeries(server.store, "org_a", [gauge("m", "p2")]);
  assert.deepEqual(await podsOf("m"), ["p1", "p2"]);
  assert.deepEqual(await podsOf('m{pod="p2"}'), ["p2"]);
});

test("a metric is found once it is written", async () => {
  assert.deepEqual(await podsOf("later"), []);
  await appendSeries(server.store, "org_a", [gauge("later", "p1")]);
  assert.deepEqual(await podsOf("later"), ["p1"]);
});

test("another metric with the same name in PromQL is found once it is written", async () => {
  await appendSeries(server.store, "org_a", [gauge("a.b", "p1")]);
  assert.deepEqual(await podsOf("a_b"), ["p1"]);
  await appendSeries(server.store, "org_a", [gauge("a_b", "p2")]);
  assert.deepEqual(await podsOf("a_b"), ["p1", "p2"]);
});

test("what is remembered of one project is not what another one sees", async () => {
  await appendSeries(server.store, "org_c", [gauge("m", "p1", { project: "x" }), gauge("m", "p2", { project: "y" })]);
  assert.deepEqual(await podsOf("m", "org_c:x"), ["p1"]);
  assert.deepEqual(await podsOf("m", "org_c:y"), ["p2"]);
  assert.deepEqual(await podsOf("m", "org_c"), ["p1", "p2"]);
  assert.deepEqual(await podsOf("m", "org_c:x"), ["p1"]);
});

test("what is remembered of one organization is not what another one sees", async () => {
  await appendSeries(server.store, "org_d", [gauge("m", "p1")]);
  assert.deepEqual(await podsOf("m", "org_d"), ["p1"]);
  assert.deepEqual(await podsOf("m", "org_e"), []);
  await appendSeries(server.store, "org_e", [gauge("m", "p9")]);
  assert.deepEqual(await podsOf("m", "org_e"), ["p9"]);
  assert.deepEqual(await podsOf("m", "org_d"), ["p1"]);
});

/** `target_info` through the real server: it exists when a process sends points, and only then. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { newLogTenant, type LogTenant } from "./support/log-tenant.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";
import { beforeTests } from "./support/hooks.ts";

const minuteMs = 60_000;
const nowMs = Math.floor(Date.now() / minuteMs) * minuteMs - minuteMs;
/** Marks samples, which can be deleted (api/observability-samples.ts). */
const sampleScope = { name: "sounding.demo" };

let server: RunningServer;
beforeTests(async (stack) => {
  server = stack.use(await startServer("", { telemetry: true }));
  await untilTelemetryReady(server);
});

type Labels = Readonly<Record<string, string>>;

interface Sent {
  /** Minutes before now, of which each has a point. */
  readonly minutes: readonly number[];
  readonly resource: Labels;
  readonly scope?: object;
  readonly metric?: object;
}

/** Sends one request. */
async function send(tenant: LogTenant, { metric, minutes, resource, scope = {} }: Sent): Promise<void> {
  const dataPoints = minutes.map((ago) => ({
    timeUnixNano: String(BigInt(nowMs - ago * minuteMs) * 1_000_000n),
    asInt: "1",
  }));
  const attributes = Object.entries(resource).map(([key, stringValue]) => ({ key, value: { stringValue } }));
  const metrics = [metric ?? { name: "jobs.waiting", gauge: { dataPoints } }];
  const response = await tenant.call("/v1/metrics", {
    resourceMetrics: [{ resource: { attributes }, scopeMetrics: [{ scope, metrics }] }],
  });
  assert.deepEqual([response.status, await response.text()], [200, "{}"]);
}

const minutesBetween = (first: number, last: number): number[] =>
  Array.from({ length: first - last + 1 }, (_, index) => first - index);

async function get<Data>(tenant: LogTenant, path: string): Promise<Data> {
  const headers = { authorization: `Bearer ${tenant.key}` };
  const response = await fetch(`${server.url}/prometheus/api/v1/${path}`, { headers });
  const body = (await response.json()) as { data: Data; error?: string };
  assert.equal(response.status, 200, body.error);
  return body.data;
}

/** The label sets of the result, some minutes ago. */
async function query(tenant: LogTenant, text: string, ago = 0): Promise<Labels[]> {
  const time = (nowMs - ago * minuteMs) / 1000;
  const path = `query?query=${encodeURIComponent(text)}&time=${time}`;
  return (await get<{ result: { metric: Labels }[] }>(tenant, path)).result.map(({ metric }) => metric);
}

describe("target_info", { timeout: 180_000 }, () => {
  test("of two versions of a process exists while each sends points, so joins and info() work", async () => {
    const tenant = await newLogTenant(server);
    const resource = (version: string): Labels => ({ "service.name": "shop", "service.version": version });
    await send(tenant, { minutes: minutesBetween(60, 21), resource: resource("1") });
    await send(tenant, { minutes: minutesBetween(10, 0), resource: resource("2") });
    const versions = async (ago: number): Promise<string[]> =>
      (await query(tenant, "target_info", ago)).map(({ service_version: version }) => version!);
    assert.deepEqual(await versions(62), []);
    assert.deepEqual(await versions(60), ["1"]);
    assert.deepEqual(await versions(21), ["1"]);
    assert.deepEqual(await versions(16), []);
    assert.deepEqual(await versions(0), ["2"]);
    for (const text of [
      "jobs_waiting * on (job) group_left (service_version) target_info",
      "info(jobs_waiting)",
      'info(jobs_waiting, {service_version=~".+"})',
    ]) {
      for (const [ago, version] of [
        [30, "1"],
        [5, "2"],
      ] as const)
        assert.deepEqual(
          (await query(tenant, text, ago)).map(({ service_version: found }) => found),
          [version],
          text,
        );
    }
    const range = `start=${(nowMs - 70 * minuteMs) / 1000}&end=${nowMs / 1000}&step=60`;
    const { result } = await get<{ result: { metric: Labels; values: [number, string][] }[] }>(
      tenant,
      `query_range?query=target_info&${range}`,
    );
    const spans = result.map(({ metric, values }) => [
      metric["service_version"],
      ...[values[0]!, values.at(-1)!].map(([time]) => nowMs / minuteMs - time / 60),
    ]);
    // A sample counts for less than five minutes.
    assert.deepEqual(
      new Set(spans.map(String)),
      new Set(
        [
          ["1", 60, 17],
          ["2", 10, 0],
        ].map(String),
      ),
    );
  });

  test("follows points of every kind, except those without a value", async () => {
    const tenant = await newLogTenant(server);
    const time = { timeUnixNano: String(BigInt(nowMs) * 1_000_000n) };
    const kinds = {
      histogram: { histogram: { aggregationTemporality: 2, dataPoints: [{ ...time, count: "0" }] } },
      exponential: { exponentialHistogram: { aggregationTemporality: 2, dataPoints: [{ ...time, count: "0" }] } },
      summary: { summary: { dataPoints: [{ ...time, count: "0" }] } },
      stale: { gauge: { dataPoints: [{ ...time, flags: 1 }] } },
    };
    for (const [name, data] of Object.entries(kinds))
      await send(tenant, {
        minutes: [],
        resource: { "service.name": name, "host.name": "h" },
        metric: { name: `m.${name}`, ...data },
      });
    const jobs = new Set((await query(tenant, "target_info")).map(({ job }) => job));
    assert.deepEqual(jobs, new Set(["exponential", "histogram", "summary"]));
  });

  test("is written for a minute once, however many series a request has, and is no series that was sent", async () => {
    const tenant = await newLogTenant(server);
    const resource = { "service.name": "many", "host.name": "h" };
    const dataPoints = Array.from({ length: 100 }, (_, index) => ({
      timeUnixNano: String(BigInt(nowMs) * 1_000_000n + BigInt(index)),
      asInt: "1",
      attributes: [{ key: "n", value: { stringValue: String(index) } }],
    }));
    await send(tenant, { minutes: [], resource, metric: { name: "n", gauge: { dataPoints } } });
    assert.deepEqual(
      (await query(tenant, "count_over_time(target_info[10m]) == 1")).map(({ job }) => job),
      ["many"],
    );
    assert.equal("target_info" in (await get<object>(tenant, "metadata")), false);
    const labels = await get<string[]>(tenant, 'labels?match[]={job="many"}');
    assert.deepEqual(labels, ["__name__", "host_name", "job", "n", "project_name", "service_name"]);
    const exported = await tenant.call("/observability/export", { signal: "metrics", project_name: "default" });
    assert.equal(exported.status, 200);
    const names = [...(await exported.text()).matchAll(/"name":"([^"]*)"/g)].map(([, name]) => name);
    assert.deepEqual(new Set(names), new Set(["n"]));
  });

  test("needs attributes besides those that identify the process and its project", async () => {
    const tenant = await newLogTenant(server);
    const identity = { "service.name": "plain", "service.namespace": "x", "service.instance.id": "1" };
    await send(tenant, { minutes: [0], resource: { ...identity, "project.name": "p" } });
    await send(tenant, { minutes: [0], resource: { "host.name": "without-a-job" } });
    assert.deepEqual(await query(tenant, "target_info"), []);
  });

  test("goes with the samples of a process that sent nothing else", async () => {
    const tenant = await newLogTenant(server);
    const of = (name: string): Labels => ({ "service.name": name, "host.name": "h" });
    await send(tenant, { minutes: [0], resource: of("sample"), scope: sampleScope });
    await send(tenant, { minutes: [0], resource: of("both"), scope: sampleScope });
    await send(tenant, { minutes: [0], resource: of("both") });
    const removed = await fetch(`${server.url}/observability/samples?project_name=default`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${tenant.key}` },
    });
    assert.equal(((await removed.json()) as { points: number }).points, 2);
    assert.deepEqual(
      (await query(tenant, "target_info")).map(({ job }) => job),
      ["both"],
    );
  });
});

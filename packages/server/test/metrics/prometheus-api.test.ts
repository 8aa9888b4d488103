import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startMetricsServer, type MetricsServer } from "./metrics-server.ts";
import { appendSeries, appendSpans } from "./telemetry-rows.ts";
import { targetInfo } from "../../src/store/metric-tables.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const minuteMs = 60_000;
/** A whole minute, some minutes ago. */
const nowMs = Math.floor(Date.now() / minuteMs) * minuteMs - 2 * minuteMs;
const time = nowMs / 1000;
let server: MetricsServer;

/** A point each minute of the last ten, the last one at `nowMs`. */
function eachMinute<Point>(make: (index: number, timeMs: number) => Point): Point[] {
  return Array.from({ length: 11 }, (_, index) => make(index, nowMs - (10 - index) * minuteMs));
}

beforeTests(async (stack) => {
  server = stack.use(await startMetricsServer());
  const startMs = nowMs - 20 * minuteMs;
  await appendSeries(server.store, "org_a", [
    {
      metric: "http.server.requests",
      type: "sum",
      monotonic: true,
      unit: "{request}",
      attributes: { "http.route": "/a", project_name: "forged" },
      resource: { "service.name": "web", "service.namespace": "shop", "service.instance.id": "i1", "host.name": "h1" },
      service: "web",
      points: eachMinute((index, timeMs) => ({ timeMs, startMs, value: index * 6 })),
    },
    {
      ...targetInfo,
      type: "gauge",
      resource: { "service.name": "web", "service.namespace": "shop", "service.instance.id": "i1", "host.name": "h1" },
      service: "web",
      points: eachMinute((_, timeMs) => ({ timeMs, value: 1 })),
    },
    {
      metric: "jobs.done",
      type: "sum",
      monotonic: true,
      temporality: "delta",
      points: eachMinute((_, timeMs) => ({ timeMs, startMs: timeMs - minuteMs, value: 5 })),
    },
    {
      metric: "room.temperature",
      type: "gauge",
      unit: "Cel",
      attributes: { room: 'a"b\\c\nd' },
      points: eachMinute((index, timeMs) => ({ timeMs, value: 20 + index, stale: index === 10 })),
    },
    {
      metric: "work.duration",
      type: "histogram",
      unit: "s",
      points: eachMinute((index, timeMs) => ({
        timeMs,
        startMs,
        count: index * 4,
        sum: index * 6,
        bounds: [1, 2.5],
        counts: [index, index * 2, index],
      })),
    },
    {
      metric: "size",
      type: "exponential_histogram",
      unit: "By",
      points: eachMinute((index, timeMs) => ({
        timeMs,
        startMs,
        count: index * 3,
        sum: index * 9,
        scale: 0,
        positive: { offset: 0, counts: [index, index * 2] },
      })),
    },
    {
      metric: "offset",
      type: "exponential_histogram",
      attributes: { __a: "reserved" },
      points: eachMinute((_, timeMs) => ({
        timeMs,
        startMs,
        count: 10,
        sum: 0,
        scale: 0,
        zeroCount: 5,
        zeroThreshold: 0.5,
        positive: { offset: 0, counts: [3] },
        negative: { offset: 0, counts: [2] },
      })),
    },
    {
      metric: "queue.fill",
      type: "sum",
      monotonic: false,
      unit: "1",
      points: eachMinute((_, timeMs) => ({ timeMs, startMs, value: 3 })),
    },
    {
      metric: "cpu.utilization",
      type: "gauge",
      unit: "1",
      points: eachMinute((_, timeMs) => ({ timeMs, value: 0.5 })),
    },
    {
      metric: "rpc.latency",
      type: "summary",
      unit: "ms",
      points: eachMinute((index, timeMs) => ({ timeMs, count: index, sum: 2 * index, quantiles: { 0.5: 7, 0.99: 9 } })),
    },
    {
      metric: "inference.requests",
      type: "sum",
      monotonic: true,
      service: "counted-by-itself",
      points: eachMinute((index, timeMs) => ({ timeMs, startMs, value: index })),
    },
    {
      metric: "inference.requests",
      type: "sum",
      monotonic: true,
      service: "app",
      points: eachMinute((index, timeMs) => ({ timeMs, startMs, value: index * 100 })),
    },
  ]);
  await appendSpans(server.store, "org_a", [
    { endMs: nowMs - 10, model: "gpt", sessionId: "s1" },
    { endMs: nowMs - 10, model: "gpt", sessionId: "s2" },
    { endMs: nowMs - 5 * minuteMs, model: "llama", durationMs: 1500 },
  ]);
});

async function instant(query: string): Promise<Record<string, string>> {
  const parameters = new URLSearchParams({ query, time: String(time) }).toString();
  const { body, status } = await server.get(`/prometheus/api/v1/query?${parameters}`);
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(body.status, "success");
  return Object.fromEntries(
    body.data.result.map(({ metric, value }: { metric: Record<string, string>; value: [number, string] }) => [
      Object.entries(metric)
        .map((entry) => entry.join("="))
        .join(" "),
      value[1],
    ]),
  );
}

describe("metrics sent by OTLP", () => {
  for (const [query, expected] of [
    [
      "http_server_requests_total",
      "__name__=http_server_requests_total exported_project_name=forged http_route=/a instance=i1 job=shop/web project_name=default service_name=web",
    ],
  ] as const) {
    test(`${query} has the labels of the attributes and of the resource`, async () => {
      assert.deepEqual(await instant(query), { [expected]: "60" });
    });
  }

  for (const [query, expected] of [
    ["sum(increase(http_server_requests_total[5m]))", "30"],
    ["sum(increase(jobs_done_total[5m]))", "25"],
    ["sum(max_over_time(room_temperature_celsius[10m]))", "29"],
    ["sum(max_over_time(room_temperature_celsius[100d]))", "29"],
    ["count(room_temperature_celsius)", undefined],
    ["sum(work_duration_seconds_count)", "40"],
    ["sum(work_duration_seconds_sum)", "60"],
    ['sum(work_duration_seconds_bucket{le="2.5"})', "30"],
    ['sum(work_duration_seconds_bucket{le="+Inf"})', "40"],
    ["round(histogram_quantile(0.5, sum by (le) (rate(work_duration_seconds_bucket[5m]))), 0.001)", "1.75"],
    ["sum(histogram_count(size_bytes))", "30"],
    ["histogram_quantile(1, sum(size_bytes))", "4"],
    ["sum(queue_fill) + sum(cpu_utilization_ratio)", "3.5"],
    ['count(offset{key_a="reserved"})', "1"],
    ['sum(rpc_latency_milliseconds{quantile="0.99"})', "9"],
    ["sum(rpc_latency_milliseconds_count)", "10"],
    ['count(target_info{job="shop/web", host_name="h1"})', "1"],
    ['sum(http_server_requests_total * on (job, instance) group_left (host_name) target_info{host_name="h1"})', "60"],
    ['sum(room_temperature_celsius{room="a\\"b\\\\c\\nd"} offset 1m)', "29"],
    ['sum(increase(http_server_requests_total{project_name="other"}[5m]))', undefined],
  ] as const) {
    test(`${query} is ${expected}`, async () => {
      assert.deepEqual(await instant(query), expected === undefined ? {} : { "": expected });
    });
  }

  test("count only for services without spans", async () => {
    const seen = await instant("sum by (service_name) (increase(inference_requests_total[10m]))");
    assert.deepEqual(Object.keys(seen).sort(), ["service_name=app", "service_name=counted-by-itself"]);
    assert.equal(seen["service_name=app"], "3");
    assert.equal(Number(seen["service_name=counted-by-itself"]), 10);
  });
});

describe("Prometheus' HTTP API", () => {
  test("answers a range query with a matrix, from a form too", async () => {
    const form = new URLSearchParams({
      query: 'sum by (model_key) (increase(inference_duration_seconds_count{model_key!=""}[5m]))',
      start: String(time - 300),
      end: new Date(nowMs).toISOString(),
      step: "5m",
    });
    const byForm = await server.post("/prometheus/api/v1/query_range", form.toString());
    assert.deepEqual(byForm, await server.get(`/prometheus/api/v1/query_range?${form.toString()}`));
    assert.deepEqual(byForm.body, {
      status: "success",
      data: {
        resultType: "matrix",
        result: [
          {
            metric: { model_key: "gpt" },
            values: [
              [time - 300, "0"],
              [time, "2"],
            ],
          },
          {
            metric: { model_key: "llama" },
            values: [
              [time - 300, "1"],
              [time, "0"],
            ],
          },
        ],
      },
    });
  });

  test("writes which bounds of a native histogram's buckets are inclusive", async () => {
    const { body } = await server.get(`/prometheus/api/v1/query?query=offset&time=${time}`);
    assert.deepEqual(body.data.result[0].histogram[1].buckets, [
      [1, "-2", "-1", "2"],
      [3, "-0.5", "0.5", "5"],
      [0, "1", "2", "3"],
    ]);
  });

  test("returns series per session only if the query names it", async () => {
    const plain = await instant('count(inference_requests_total{service_name="app"})');
    const named = await instant('count(inference_requests_total{service_name="app",session_id!=""})');
    assert.deepEqual([plain, named], [{ "": "1" }, { "": "2" }]);
  });

  test("answers scalars and strings", async () => {
    assert.deepEqual((await server.get("/prometheus/api/v1/query?query=1%2B1&time=5")).body.data, {
      resultType: "scalar",
      result: [5, "2"],
    });
    assert.equal((await server.get("/prometheus/api/v1/query?query=%22x%22")).body.data.resultType, "string");
  });

  test("lists names, labels, values and series", async () => {
    const names = await server.get("/prometheus/api/v1/label/__name__/values");
    for (const name of ["http_server_requests_total", "inference_duration_seconds_bucket", "target_info"]) {
      assert.ok(names.body.data.includes(name), name);
    }
    const labels = await server.get("/prometheus/api/v1/labels?match[]=http_server_requests_total");
    assert.deepEqual(labels.body.data, [
      "__name__",
      "exported_project_name",
      "http_route",
      "instance",
      "job",
      "project_name",
      "service_name",
    ]);
    const models = await server.get("/prometheus/api/v1/label/model_key/values");
    assert.deepEqual(models.body.data, ["gpt", "llama"]);
    const sessions = await server.get("/prometheus/api/v1/label/session_id/values?match[]=inference_requests_total");
    assert.deepEqual(sessions.body.data, ["s1", "s2"]);
    const series = await server.get('/prometheus/api/v1/series?match[]=token_usage_total&match[]={__name__=~"jobs.*"}');
    assert.deepEqual(series.body.data, [
      { __name__: "jobs_done_total", job: "app", project_name: "default", service_name: "app" },
    ]);
  });

  test("returns at most as many as the limit, and says so", async () => {
    const at = (path: string) => server.get(`/prometheus/api/v1/${path}`);
    const range = `start=${Math.floor(Date.now() / 1000) - 60}&end=${Math.floor(Date.now() / 1000)}&step=60`;
    const query = 'query=label_replace(vector(1),"a","1","","") or vector(2)';
    for (const path of [
      `query?${query}`,
      `query_range?${query}&${range}`,
      'series?match[]={__name__=~".%2B"}',
      "labels?",
      "label/__name__/values?",
    ]) {
      const all = await at(path);
      assert.equal(all.body.warnings, undefined, path);
      const { body } = await at(`${path}&limit=1`);
      assert.equal((body.data.result ?? body.data).length, 1, path);
      assert.deepEqual(body.warnings, ["results truncated due to limit"], path);
      assert.equal((await at(`${path}&limit=0`)).body.warnings, undefined, path);
    }
  });

  test("describes metrics and itself", async () => {
    const { body } = await server.get("/prometheus/api/v1/metadata");
    assert.deepEqual(body.data.jobs_done_total, [{ type: "counter", unit: "", help: "" }]);
    assert.equal(body.data.inference_duration_seconds[0].type, "histogram");
    assert.equal((await server.get("/prometheus/api/v1/status/buildinfo")).body.data.version, "3.0.0");
    assert.deepEqual((await server.get("/prometheus/api/v1/rules")).body.data, { groups: [] });
    assert.deepEqual((await server.get("/prometheus/api/v1/alerts")).body.data, { alerts: [] });
  });

  for (const [path, problem] of [
    ["query", /"query"/],
    ["query?query=sum(", /parse error/],
    ["query?query=up&time=noon", /"noon"/],
    ["query?query=up&query=down", /"up".*"down"/],
    ["query_range?query=up&start=1&end=2", /"step"/],
    ["query_range?query=up&start=1&end=900000&step=1", /11,000 points/],
    ["query_range?query=up&start=5&end=2&step=1", /end timestamp/],
    ["series?match[]=sum(up)", /series selector/],
    ["series", /no match\[\] parameter provided/],
    ["labels?limit=many", /"many"/],
  ] as const) {
    test(`refuses ${path} in Prometheus' form`, async () => {
      const { body, status } = await server.get(`/prometheus/api/v1/${path}`);
      assert.equal(status, 400);
      assert.equal(body.status, "error");
      assert.equal(body.errorType, "bad_data");
      assert.match(body.error, problem);
    });
  }
});

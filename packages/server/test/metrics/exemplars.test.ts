/** Exemplars of series over spans and of pushed series, by Prometheus' HTTP API. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AppError } from "../../src/errors.ts";
import { prometheusRoutes } from "../../src/query/prometheus-api/prometheus-routes.ts";
import type { TenantReader } from "../../src/store/store.ts";
import { startTestHttp, testSecret } from "../support/test-http.ts";
import { startMetricsServer, type MetricsServer, type QueryAnswer } from "./metrics-server.ts";
import { appendSeries, appendSpans } from "./telemetry-rows.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const minuteMs = 60_000;
/** A whole minute, some minutes ago. */
const nowMs = Math.floor(Date.now() / minuteMs) * minuteMs - 2 * minuteMs;
const hostile = '"} or {a="\'\\\n<script>\u202e';
const traceOf = (digit: string): string => digit.repeat(32);
const bounds = [0.1, 0.5];

interface Found {
  readonly seriesLabels: Record<string, string>;
  readonly exemplars: { labels: Record<string, string>; value: string; timestamp: number }[];
}

let server: MetricsServer;

beforeTests(async (stack) => {
  server = stack.use(await startMetricsServer());
  await appendSpans(server.store, "org_a", [
    { endMs: nowMs - 5000, durationMs: 100, model: "gpt", traceId: traceOf("1") },
    { endMs: nowMs - 4000, durationMs: 1500, model: "gpt", traceId: traceOf("2") },
    { endMs: nowMs - 3000, durationMs: 200, model: "gpt", errorType: "500", traceId: traceOf("3") },
    { endMs: nowMs - 2000, durationMs: 50, model: hostile, service: hostile, traceId: traceOf("4") },
    { endMs: nowMs - 1000, durationMs: 70, model: "gpt", project: "billing", traceId: traceOf("5") },
    // The application reports the same call as Sounding's own span.
    { endMs: nowMs - 500, model: "twice", traceId: traceOf("6"), served: true, responseKey: 7n },
    { endMs: nowMs - 500, model: "twice", traceId: traceOf("7"), responseKey: 7n },
    { endMs: nowMs - 500, operation: "invoke_agent", sessionId: "s1", traceId: traceOf("8") },
  ]);
  await appendSpans(server.store, "org_b", [
    { endMs: nowMs - 4000, durationMs: 9000, model: "gpt", traceId: traceOf("b") },
  ]);
  const pushed = {
    metric: "work.duration",
    type: "histogram",
    unit: "s",
    points: [{ timeMs: nowMs - 5000, count: 2, sum: 1, bounds, counts: [1, 1, 0] }],
  } as const;
  await appendSeries(server.store, "org_a", [
    {
      ...pushed,
      exemplars: [
        // In another hundredth of the range than the next one, so that both are kept.
        { timeMs: nowMs - 15_000, value: 0.3, traceId: traceOf("c"), spanId: "c".repeat(16) },
        {
          timeMs: nowMs - 4000,
          value: 7,
          traceId: traceOf("d"),
          attributes: { trace_id: "forged", "user.name": hostile },
        },
      ],
    },
    {
      ...pushed,
      metric: "other.duration",
      project: "billing",
      exemplars: [{ timeMs: nowMs, value: 0.01, traceId: traceOf("e") }],
    },
    {
      metric: "jobs.done",
      type: "sum",
      monotonic: true,
      points: [{ timeMs: nowMs, value: 1 }],
      exemplars: [{ timeMs: nowMs, value: 1, attributes: { long: "x".repeat(1_000_000) } }],
    },
  ]);
  await appendSeries(server.store, "org_b", [
    { ...pushed, exemplars: [{ timeMs: nowMs, value: 0.3, traceId: traceOf("f") }] },
  ]);
});

const path = "/prometheus/api/v1/query_exemplars";
const range = { start: String(nowMs / 1000 - 600), end: String(nowMs / 1000) };

async function ask(query: string, key?: string, times: Record<string, string> = range): Promise<QueryAnswer> {
  return server.get(`${path}?${new URLSearchParams({ query, ...times }).toString()}`, key);
}

async function exemplars(query: string, key?: string): Promise<Found[]> {
  const { body, status } = await ask(query, key);
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(body.status, "success");
  return body.data;
}

function tracesOf(found: readonly Found[]): string[] {
  return found.flatMap((series) => series.exemplars.map(({ labels }) => labels["trace_id"]!.slice(0, 1))).sort();
}

describe("exemplars of series over spans", () => {
  test("have the series' labels, the value, the time and the trace", async () => {
    const [series, ...others] = await exemplars('inference_duration_seconds_bucket{status="failure"}');
    assert.equal(others.length, 0);
    assert.deepEqual(series!.seriesLabels, {
      __name__: "inference_duration_seconds_bucket",
      project_name: "default",
      service_name: "app",
      model_key: "gpt",
      operation: "chat",
      status: "failure",
      le: "0.2",
    });
    const [exemplar] = series!.exemplars;
    assert.equal(exemplar!.value, "0.2");
    assert.equal(exemplar!.timestamp, nowMs / 1000 - 3);
    assert.equal(exemplar!.labels["trace_id"], traceOf("3"));
    assert.match(exemplar!.labels["span_id"]!, /^[0-9a-f]{16}$/);
  });

  test("are those of every selector within an expression", async () => {
    const query =
      'histogram_quantile(0.9, sum by (le) (rate(inference_duration_seconds_bucket{model_key="gpt"}[5m] offset 1h))) / on () sum(rate(agent_tasks_total[5m]))';
    assert.deepEqual(tracesOf(await exemplars(query)), ["1", "2", "3", "5", "8"]);
  });

  test("respect the matchers of buckets", async () => {
    assert.deepEqual(tracesOf(await exemplars('inference_duration_seconds_bucket{le="1.6"}')), ["2"]);
  });

  test("have a label that only a named label adds", async () => {
    const [series] = await exemplars("sum by (session_id) (agent_tasks_total)");
    assert.equal(series!.seriesLabels["session_id"], "s1");
  });

  test("count a call that two spans report once", async () => {
    assert.deepEqual(tracesOf(await exemplars('inference_requests_total{model_key="twice"}')), ["6"]);
  });

  test("gauges have none", async () => {
    assert.deepEqual(await exemplars("session_start_timestamp_seconds"), []);
  });

  test("are few, however many calls a series has: the slowest and the failed ones among them", async () => {
    const calls = Array.from({ length: 2000 }, (_, index) => ({
      endMs: nowMs - index * 10,
      durationMs: index === 777 ? 60_000 : 10,
      model: "busy",
      ...(index === 1234 ? { errorType: "500" } : {}),
      traceId: index.toString(16).padStart(32, "a"),
    }));
    await appendSpans(server.store, "org_busy", calls);
    const found = await exemplars('{__name__="token_usage_total"} or inference_requests_total', "org_busy");
    const traces = found.flatMap((series) => series.exemplars.map(({ labels }) => labels["trace_id"]));
    assert.ok(traces.includes(calls[777]!.traceId));
    assert.ok(traces.includes(calls[1234]!.traceId));
    assert.ok(traces.length <= 4 * 3 * 2, `${traces.length} exemplars`);
  });
});

describe("exemplars of pushed series", () => {
  test("belong to the bucket of their value", async () => {
    const found = await exemplars("work_duration_seconds_bucket");
    assert.deepEqual(
      found.map(({ exemplars: [one], seriesLabels }) => [seriesLabels["le"], one!.value, one!.labels["trace_id"]]),
      [
        ["+Inf", "7", traceOf("d")],
        ["0.5", "0.3", traceOf("c")],
      ],
    );
  });

  test("keep their attributes, which cannot forge a trace", async () => {
    const [series] = await exemplars('work_duration_seconds_bucket{le="+Inf"}');
    assert.deepEqual(series!.exemplars[0]!.labels, { trace_id: traceOf("d"), user_name: hostile });
  });

  test("have short labels", async () => {
    const [series] = await exemplars("jobs_done_total");
    assert.equal(series!.exemplars[0]!.labels["long"], "x".repeat(128));
  });
});

describe("tenants", () => {
  test("an organization has its own exemplars only", async () => {
    assert.deepEqual(tracesOf(await exemplars("inference_duration_seconds_bucket", "org_b")), ["b"]);
    assert.deepEqual(tracesOf(await exemplars("work_duration_seconds_bucket", "org_b")), ["f"]);
    assert.deepEqual(await exemplars('{__name__=~".+"}', "org_c"), []);
  });

  test("a key that is bound to a project has those of the project", async () => {
    const names = "inference_requests_total|.*_duration_seconds_bucket";
    assert.deepEqual(tracesOf(await exemplars(`{__name__=~"${names}"}`, "org_a:billing")), ["5", "5", "e"]);
  });

  test("a matcher cannot name another project or organization", async () => {
    assert.deepEqual(await exemplars('inference_requests_total{project_name="default"}', "org_a:billing"), []);
    assert.deepEqual(await exemplars('inference_requests_total{organization_id="org_b"}'), []);
  });
});

test("a query ends when its caller disconnects", async () => {
  const started = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const waiting: TenantReader["query"] = (_, { signal } = {}) => {
    started.resolve();
    return new Promise((_resolve, reject) => {
      signal!.addEventListener("abort", () => {
        ended.resolve();
        reject(new AppError("client_closed", "The client disconnected."));
      });
    });
  };
  const store = { open: () => ({ query: waiting }) as unknown as TenantReader };
  const http = await startTestHttp({ routes: prometheusRoutes({ store, version: "0.0.0" }) });
  const caller = new AbortController();
  const headers = { authorization: `Bearer ${testSecret}` };
  const answer = fetch(`${http.url}${path}?query=inference_requests_total`, { headers, signal: caller.signal });
  await started.promise;
  caller.abort();
  await assert.rejects(answer);
  await ended.promise;
  await http.close();
});

describe("parameters", () => {
  test("a form is accepted", async () => {
    const form = new URLSearchParams({
      query: `inference_requests_total{service_name=${JSON.stringify(hostile)}}`,
      ...range,
    });
    const { body, status } = await server.post(path, form.toString());
    assert.equal(status, 200);
    assert.deepEqual(tracesOf(body.data), ["4"]);
    assert.equal(body.data[0].seriesLabels.model_key, hostile);
  });

  test("without times, the last day counts", async () => {
    const { body } = await ask("work_duration_seconds_bucket", "org_b", {});
    assert.deepEqual(tracesOf(body.data), ["f"]);
  });

  for (const [what, query, times, expected] of [
    ["a missing query", "", range, /"query": query is missing/],
    ["a syntax error", "sum(", range, /1:5: parse error/],
    ["a range that ends before it starts", "up", { start: "20", end: "10" }, /end timestamp must not be before start/],
    ["a time that is none", "up", { start: "yesterday" }, /start is "yesterday"/],
    ["an invalid pattern", 'up{a=~"("}', range, /missing|regex|parenthes/i],
  ] as const) {
    test(`${what} is refused`, async () => {
      const { body, status } = await ask(query, undefined, times);
      assert.equal(status, 400, JSON.stringify(body));
      assert.equal(body.errorType, "bad_data");
      assert.match(body.error, expected);
    });
  }

  test("a range of centuries is answered", async () => {
    const { status } = await ask('{__name__=~".+"}', undefined, { start: "0", end: "9000000000" });
    assert.equal(status, 200);
  });
});

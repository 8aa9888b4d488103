/** An installation that a test fills with all kinds of telemetry and asks everything, before and after it is copied. */
import assert from "node:assert/strict";
import { startApp } from "../../packages/server/src/app.ts";
import { loadConfig } from "../../packages/server/src/config/load-config.ts";
import { formatProblem } from "../../packages/server/src/config/problem.ts";
import { createLogger } from "../../packages/server/src/logger.ts";
import { toLogs, toMetrics, toTraces } from "../../packages/cli/src/demo/otlp.ts";
import { createRandom } from "../../packages/cli/src/demo/random.ts";
import { recordHour } from "../../packages/cli/src/demo/support-desk.ts";
import { otlpSender, type OtlpSender } from "./otlp-sender.ts";
import { untilTelemetryReady } from "./running-server.ts";

export interface ServedInstallation extends AsyncDisposable {
  readonly url: string;
  /** The secrets of the first keys, if this start created them. */
  readonly firstStart: { readonly key: string; readonly operatorKey?: string | undefined } | undefined;
}

/** @param env names the data directory and the databases */
export async function serveInstallation(
  env: Readonly<Record<string, string>>,
  path?: string,
): Promise<ServedInstallation> {
  const { config, problems } = await loadConfig({ path, env, overrides: { server: { port: 0 } } });
  if (config === undefined) throw new Error(problems.map(formatProblem).join("\n"));
  const app = await startApp({ config, logger: createLogger("silent"), version: "0.0.0-test" });
  const url = `http://127.0.0.1:${app.port}`;
  await untilTelemetryReady({ url });
  return { url, firstStart: app.firstStart, [Symbol.asyncDispose]: () => app.close() };
}

export async function administer<Answer>(url: string, key: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(`${url}/admin/v1${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  assert.ok(response.ok, await response.clone().text());
  return (await response.json()) as Answer;
}

const traceId = "0af7651916cd43dd8448eb211c80319c";
/** The window of all questions: the telemetry is of the hour before, and of yesterday. */
export const endMs = Date.now() - 60_000;
const hourNanos = 3_600_000_000_000n;
const endNanos = BigInt(endMs) * 1_000_000n;

/** Sends an hour of a sample application, and one of everything that it does not have. Some of it is sent twice. */
export async function sendAllTelemetry(url: string, key: string, seed: number): Promise<OtlpSender> {
  const post = async (path: string, message: object): Promise<void> => {
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(message),
    });
    assert.equal(response.status, 200, await response.text());
  };
  const { counts, logs, spans } = recordHour(createRandom(seed), endMs);
  for (let times = 0; times < 2; times += 1) {
    await post("/v1/traces", toTraces(spans.slice(0, 400), "desk"));
    await post("/v1/logs", toLogs(logs.slice(0, 300), "desk"));
    await post("/v1/metrics", toMetrics(counts, "desk"));
  }
  const sender = otlpSender(url, key);
  const resource = { "service.name": "shop", zone: `z${seed}` };
  for (const startUnixNano of [endNanos - hourNanos / 2n, endNanos - 24n * hourNanos]) {
    const spanId = startUnixNano.toString(16).slice(0, 16).padStart(16, "1");
    await sender.spans(resource, [
      {
        traceId,
        spanId,
        name: "checkout",
        startUnixNano,
        duration: 40_000_000n,
        attributes: { "large.text": "x".repeat(5000), quote: `it's a "test" \\ \n\t`, rows: 9_007_199_254_740_993n },
        more: {
          kind: 2,
          status: { code: 2, message: "gone" },
          events: [{ timeUnixNano: String(startUnixNano + 5n), name: "exception", attributes: [] }],
          links: [{ traceId: "a".repeat(32), spanId: "b".repeat(16), traceState: "k=v" }],
        },
      },
    ]);
    await sender.logs(resource, [
      { unixNano: startUnixNano, body: { list: [1, "zwei", true] }, more: { severityNumber: 17, traceId, spanId } },
      { unixNano: startUnixNano + 1n, body: "späte Zeile 𝄞" },
    ]);
    await post("/v1/metrics", metricsAt(startUnixNano, seed, spanId));
  }
  return sender;
}

function metricsAt(unixNano: bigint, seed: number, spanId: string): object {
  const time = { startTimeUnixNano: String(unixNano - hourNanos), timeUnixNano: String(unixNano) };
  const exemplars = [{ timeUnixNano: String(unixNano - 5n), asDouble: 0.3, traceId, spanId, filteredAttributes: [] }];
  const delta = { aggregationTemporality: 2 };
  return {
    resourceMetrics: [
      {
        resource: { attributes: [{ key: "service.name", value: { stringValue: "shop" } }] },
        scopeMetrics: [
          {
            scope: { name: "test", version: "1" },
            metrics: [
              { name: "queue.size", unit: "1", gauge: { dataPoints: [{ ...time, asDouble: seed + 0.1 }] } },
              {
                name: "request.duration",
                unit: "s",
                histogram: {
                  ...delta,
                  dataPoints: [
                    {
                      ...time,
                      count: "6",
                      sum: 2.5,
                      explicitBounds: [0.1, 1],
                      bucketCounts: ["1", "3", "2"],
                      exemplars,
                    },
                  ],
                },
              },
              {
                name: "response.size",
                unit: "By",
                exponentialHistogram: {
                  ...delta,
                  dataPoints: [
                    {
                      ...time,
                      count: "5",
                      sum: 9,
                      scale: 1,
                      zeroCount: "1",
                      positive: { offset: 2, bucketCounts: ["3", "1"] },
                    },
                  ],
                },
              },
              {
                name: "wait",
                unit: "s",
                summary: {
                  dataPoints: [{ ...time, count: "2", sum: 3, quantileValues: [{ quantile: 0.5, value: 1 }] }],
                },
              },
            ],
          },
        ],
      },
    ],
  };
}

const startSeconds = Math.floor(endMs / 1000) - 26 * 3600;
const endSeconds = Math.floor(endMs / 1000);
const window = { start: String(startSeconds), end: String(endSeconds) };

const gets: readonly (readonly [path: string, query: Readonly<Record<string, string>>])[] = [
  ["/observability/projects", {}],
  ["/loki/api/v1/labels", window],
  ["/loki/api/v1/label/service_name/values", window],
  ["/loki/api/v1/series", { ...window, match: '{service_name=~".+"}' }],
  ["/loki/api/v1/query_range", { ...window, query: '{service_name=~".+"}', limit: "1000" }],
  [
    "/loki/api/v1/query_range",
    { ...window, query: 'sum by (service_name) (count_over_time({service_name=~".+"}[5m]))', step: "300" },
  ],
  ["/loki/api/v1/query_range", { ...window, query: '{service_name="shop"} |= "zwei"', limit: "10" }],
  ["/prometheus/api/v1/labels", window],
  ["/prometheus/api/v1/label/__name__/values", window],
  // Some names of each kind: without a name, it would read all metrics over spans, as the list of labels does.
  [
    "/prometheus/api/v1/series",
    {
      ...window,
      "match[]":
        '{service_name="shop", __name__=~"(?:queue|request|response|wait)_.*|target_info|inference_requests_total"}',
    },
  ],
  ["/prometheus/api/v1/metadata", {}],
  ["/prometheus/api/v1/query_exemplars", { ...window, query: "request_duration_seconds_bucket" }],
  ...['{__name__=~"queue.*"}', "request_duration_seconds_bucket", "response_size_bytes", "wait_seconds"].map(
    (query) => ["/prometheus/api/v1/query_range", { ...window, query, step: "240" }] as const,
  ),
  [
    "/prometheus/api/v1/query",
    { query: "histogram_quantile(0.5, request_duration_seconds_bucket)", time: String(endSeconds - 1700) },
  ],
  ["/tempo/api/search", { ...window, q: "{ }", limit: "200" }],
  ["/tempo/api/search", { ...window, q: '{ .quote =~ "it.*" && status = error }', limit: "20" }],
  [`/tempo/api/traces/${traceId}`, {}],
  ["/tempo/api/v2/search/tags", window],
  ["/tempo/api/metrics/query_range", { ...window, q: "{ } | rate() by (resource.service.name)", step: "600s" }],
];
const times = { start: new Date(startSeconds * 1000).toISOString(), end: new Date(endSeconds * 1000).toISOString() };
const posts: readonly (readonly [path: string, body: object])[] = [
  ["/observability/logs", { ...times, limit: 1000 }],
  ["/observability/traces", { ...times, trace: "inference_traces", limit: 100 }],
  ["/observability/conversations", times],
  ...["token_consumption", "inference_latency"].map(
    (metric) => ["/observability/metrics", { metric, end: times.end, time_window: "26h", step: "1h" }] as const,
  ),
];

/** The answers to many queries of an organization, by request. */
export async function allAnswers(url: string, key: string): Promise<Map<string, unknown>> {
  const answers = new Map<string, unknown>();
  const ask = async (name: string, path: string, init: RequestInit): Promise<void> => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const response = await fetch(`${url}${path}`, { ...init, headers });
    const text = await response.text();
    answers.set(name, { status: response.status, body: response.ok ? withoutStatistics(JSON.parse(text)) : text });
  };
  for (const [path, query] of gets) {
    const search = new URLSearchParams(query).toString();
    await ask(`${path} ${query["query"] ?? query["q"] ?? ""}`, `${path}?${search}`, { method: "GET" });
  }
  for (const [path, body] of posts)
    await ask(`${path} ${JSON.stringify(body)}`, path, { method: "POST", body: JSON.stringify(body) });
  return answers;
}

/** What a query cost differs from one time to the next. */
function withoutStatistics(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (name, each: unknown) =>
    name === "stats" || name === "inspectedBytes" ? undefined : each,
  );
}

/** What an operator can list. */
export async function allObjects(url: string, operatorKey: string): Promise<unknown> {
  const lists = ["organizations", "projects", "keys", "alert_groups"].map((name) =>
    administer<{ data: object[] }>(url, operatorKey, `/${name}?limit=100&include_archived=true`),
  );
  return (await Promise.all(lists)).map(({ data }) => data.map((each) => ({ ...each, last_used_at: null })));
}

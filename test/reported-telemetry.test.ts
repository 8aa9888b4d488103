/** Telemetry as real applications send it, odd values included: what public bug reports about software of this class show. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { newLogTenant, type LogTenant } from "./support/log-tenant.ts";
import type { SentSpan } from "./support/otlp-sender.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";
import { beforeTests } from "./support/hooks.ts";

const nowMs = Date.now() - 60_000;
const nano = (ms: number): bigint => BigInt(Math.round(ms)) * 1_000_000n;

let server: RunningServer;
beforeTests(async (stack) => {
  server = stack.use(await startServer("", { telemetry: true }));
  await untilTelemetryReady(server);
});

type Labels = Readonly<Record<string, string>>;

function get(tenant: LogTenant, path: string, parameters: Labels = {}): Promise<Response> {
  return fetch(`${server.url}${path}?${new URLSearchParams(parameters).toString()}`, {
    headers: { authorization: `Bearer ${tenant.key}` },
  });
}

/** The values of an instant query by one of their labels. */
async function values(tenant: LogTenant, query: string, label = "__name__"): Promise<Record<string, number>> {
  const response = await get(tenant, "/prometheus/api/v1/query", { query });
  const { data, error } = (await response.json()) as {
    data: { result: { metric: Labels; value: [number, string] }[] };
    error?: string;
  };
  assert.equal(response.status, 200, error);
  return Object.fromEntries(data.result.map(({ metric, value }) => [metric[label] ?? "", Number(value[1])]));
}

let lastSpan = 0;

function span(name: string, more: Partial<SentSpan>): SentSpan {
  lastSpan += 1;
  const id = lastSpan.toString(16);
  return { traceId: id.padStart(32, "a"), spanId: id.padStart(16, "b"), name, startUnixNano: nano(nowMs), ...more };
}

describe("reported telemetry", { timeout: 180_000 }, () => {
  test("has a level by the text of its severity if it has no number", async () => {
    const tenant = await newLogTenant(server);
    const levels = {
      TRACE: "trace",
      DEBUG: "debug",
      Information: "info",
      WARNING: "warn",
      ERROR: "error",
      FATAL: "fatal",
      Critical: "fatal",
      panic: "fatal",
      emerg: "fatal",
      alert: "fatal",
    };
    await tenant.sender.logs(
      { "service.name": "levels" },
      Object.keys(levels).map((severityText) => ({
        unixNano: nano(nowMs),
        body: severityText,
        more: { severityText },
      })),
    );
    const response = await get(tenant, "/loki/api/v1/query_range", {
      query: '{service_name="levels"}',
      start: String(nano(nowMs - 60_000)),
      end: String(nano(nowMs + 60_000)),
    });
    const { data } = (await response.json()) as { data: { result: { stream: Labels; values: [string, string][] }[] } };
    const found = data.result.flatMap(({ stream, values: lines }) => lines.map(([, line]) => [line, stream["level"]]));
    assert.deepEqual(Object.fromEntries(found), levels);
  });

  test("lasts 0 seconds in every metric over spans if it ends before it starts", async () => {
    const tenant = await newLogTenant(server);
    const backwards = { duration: -5_000_000_000n };
    await tenant.sender.spans({ "service.name": "backwards" }, [
      span("chat", { ...backwards, attributes: { "gen_ai.operation.name": "chat" } }),
      span("agent", { ...backwards, attributes: { "gen_ai.operation.name": "invoke_agent" } }),
      span("GET /", { ...backwards, more: { kind: 2 } }),
    ]);
    const sums = await values(
      tenant,
      'sum by (n) (label_replace(increase({__name__=~"(?:inference_duration|agent_duration|traces_.*)_(?:seconds_|latency_)?sum"}[1h]), "n", "x", "", ""))',
      "n",
    );
    assert.deepEqual(sums, { x: 0 });
    const calls = await values(tenant, "sum(increase(traces_spanmetrics_calls_total[1h]))");
    assert.deepEqual(calls, { "": 3 });
    const metrics = await get(tenant, "/tempo/api/metrics/query", {
      q: "{ } | sum_over_time(span:duration)",
      start: String(Math.floor(nowMs / 1000) - 600),
      end: String(Math.floor(nowMs / 1000) + 60),
    });
    assert.doesNotMatch(await metrics.text(), /-5/);
  });

  test("adds up to a number if one value is infinite, NaN or negative", async () => {
    const tenant = await newLogTenant(server);
    const chat = { "gen_ai.operation.name": "chat", "gen_ai.request.model": "m" };
    const oddities = [Infinity, -Infinity, Number.NaN, "Infinity", "nan", 2];
    await tenant.sender.spans(
      { "service.name": "odd" },
      oddities.map((value) =>
        span("chat", {
          attributes: {
            ...chat,
            "gen_ai.response.time_to_first_chunk": typeof value === "number" ? jsonNumber(value) : value,
            "gen_ai.usage.cost": typeof value === "number" ? jsonNumber(value) : value,
          },
        }),
      ),
    );
    for (const name of ["inference_time_to_first_token_seconds_sum", "inference_cost_total"]) {
      const [sum] = Object.values(await values(tenant, `sum(increase(${name}[1h]))`));
      assert.equal(sum, 2, name);
    }
  });

  test("has no sum where a histogram has none", async () => {
    const tenant = await newLogTenant(server);
    const time = { timeUnixNano: String(nano(nowMs)) };
    const point = { ...time, count: "2", explicitBounds: [1], bucketCounts: ["1", "1"] };
    const metrics: object[] = ["with", "without"].map((name) => ({
      name,
      histogram: { aggregationTemporality: 2, dataPoints: [{ ...point, ...(name === "with" ? { sum: 3 } : {}) }] },
    }));
    const exponential = { ...time, scale: 0, count: "2", positive: { offset: 0, bucketCounts: ["2"] } };
    metrics.push({ name: "native", exponentialHistogram: { aggregationTemporality: 2, dataPoints: [exponential] } });
    const sent = await tenant.call("/v1/metrics", { resourceMetrics: [{ scopeMetrics: [{ metrics }] }] });
    assert.equal(sent.status, 200);
    assert.deepEqual(await values(tenant, '{__name__=~"with.*_sum"}'), { with_sum: 3 });
    assert.deepEqual(await values(tenant, 'sum({__name__=~"with.*_sum"})'), { "": 3 });
    assert.deepEqual(await values(tenant, "histogram_sum(native)"), { "": 0 });
    assert.deepEqual(await values(tenant, '{__name__=~"with.*_count"}'), { with_count: 2, without_count: 2 });
  });

  test("counts a log entry once that Loki's clients push again in another batch", async () => {
    const tenant = await newLogTenant(server);
    const at = (offset: number): string => String(nano(nowMs) + BigInt(offset));
    const push = async (entries: [string, string][]): Promise<void> => {
      const streams = [{ stream: { service_name: "again" }, values: entries }];
      assert.equal((await tenant.call("/loki/api/v1/push", { streams })).status, 204);
    };
    await push([
      [at(0), "a"],
      [at(1), "same"],
    ]);
    await push([
      [at(1), "same"],
      [at(1), "other"],
      [at(2), "b"],
    ]);
    const response = await get(tenant, "/loki/api/v1/query", {
      query: 'sum(count_over_time({service_name="again"}[1h]))',
    });
    const { data } = (await response.json()) as { data: { result: { value: [number, string] }[] } };
    assert.equal(data.result[0]?.value[1], "4");
  });

  test("counts rejections of the AI SDK, and its time to the first chunk", async () => {
    const tenant = await newLogTenant(server);
    const model = { "ai.operationId": "ai.streamText.doStream", "ai.model.id": "m", "gen_ai.request.model": "m" };
    await tenant.sender.spans({ "service.name": "ai" }, [
      span("ai.streamText.doStream", {
        attributes: {
          ...model,
          "gen_ai.response.finish_reasons": ["content-filter"],
          "ai.response.msToFirstChunk": 250,
        },
      }),
    ]);
    assert.deepEqual(await values(tenant, "sum(increase(rai_rejections_total[1h]))"), { "": 1 });
    assert.deepEqual(await values(tenant, "sum(increase(inference_time_to_first_token_seconds_sum[1h]))"), {
      "": 0.25,
    });
  });

  test("is never less for a wider selector: pushed GenAI metrics next to spans that are no calls", async () => {
    const tenant = await newLogTenant(server);
    await tenant.sender.spans({ "service.name": "pushes" }, [span("GET /", { more: { kind: 2 } })]);
    await tenant.sender.metrics({ "service.name": "pushes" }, [
      {
        name: "gen_ai.client.operation.duration",
        unit: "s",
        startUnixNano: nano(nowMs - 60_000),
        unixNano: nano(nowMs),
        attributes: { "gen_ai.operation.name": "chat", "gen_ai.request.model": "m" },
        histogram: { sum: 4, bounds: [1], counts: [1, 1] },
      },
    ]);
    for (const selector of ['{model_key="m"}', '{service_name="pushes"}', "", '{project_name="default"}'])
      assert.deepEqual(
        await values(tenant, `sum(last_over_time(inference_requests_total${selector}[1h]))`),
        { "": 2 },
        selector,
      );
  });

  test("may have 11,000 steps, and lists of series need a selector", async () => {
    const tenant = await newLogTenant(server);
    const range = async (end: number): Promise<number> =>
      (await get(tenant, "/prometheus/api/v1/query_range", { query: "1", start: "0", end: String(end), step: "1" }))
        .status;
    assert.deepEqual([await range(11_000), await range(11_001)], [200, 400]);
    const series = await get(tenant, "/prometheus/api/v1/series");
    assert.deepEqual(
      [series.status, ((await series.json()) as { error: string }).error],
      [400, "no match[] parameter provided"],
    );
  });
});

/** OTLP/JSON has infinity and NaN as text in doubles; the sender's notation takes an object for them. */
function jsonNumber(value: number): unknown {
  return Number.isFinite(value) ? value : String(value);
}

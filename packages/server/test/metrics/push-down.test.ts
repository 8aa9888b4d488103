import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createTenantMetrics, type TenantMetrics } from "../../src/query/metrics/tenant-metrics.ts";
import { namedLabels } from "../../src/query/metrics/named-labels.ts";
import { queryInstant, queryRange } from "@sounding/promql/engine";
import type { MatrixSeries } from "@sounding/promql/query-value";
import { parseExpression } from "@sounding/promql/syntax/parse";
import { openTestStore, scopeOf, type TestStore } from "../store/test-store.ts";
import { appendSpans, type SpanRow } from "./telemetry-rows.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const endMs = Math.floor(Date.now() / 60_000) * 60_000;

/** A few hundred spans from a linear congruential generator, some of them exactly at the edges of windows. */
function manySpans(): SpanRow[] {
  let state = 7;
  const random = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
  return Array.from({ length: 400 }, (_, index) => ({
    endMs: index % 10 === 0 ? endMs - random(60) * 60_000 + (random(3) - 1) : endMs - random(3_600_000),
    durationMs: 1 + random(20_000),
    model: ["gpt", "llama", ""][random(3)]!,
    agentName: ["ada", "bob"][random(2)]!,
    sessionId: `s${random(5)}`,
    inputTokens: random(1000),
    outputTokens: random(100),
    operation: ["chat", "embeddings", "invoke_agent"][random(3)]!,
    ...(random(4) === 0 ? { errorType: "boom" } : {}),
    // Of some calls there are both spans, Sounding's and the application's.
    ...(index % 3 === 0 ? { responseKey: BigInt(1 + random(60)), served: random(2) === 0 } : {}),
    ...(index % 5 === 0 ? { requestKey: BigInt(1000 + random(40)), served: random(2) === 0 } : {}),
  }));
}

let opened: TestStore;
beforeTests(async (stack) => {
  opened = stack.use(await openTestStore());
  await appendSpans(opened.store, "org_a", manySpans());
});

function storageFor(query: string): TenantMetrics {
  const reader = opened.store.open(scopeOf("org_a"));
  return createTenantMetrics({ reader, project: undefined, namedLabels: namedLabels(parseExpression(query)) });
}

function plain(series: readonly MatrixSeries[]) {
  return series.map(({ labels, timestampsMs, values }) => ({ key: labels.pairs, timestampsMs, values }));
}

describe("sums computed by the store equal the engine's from samples", () => {
  for (const query of [
    "sum(increase(inference_requests_total[15m]))",
    "sum by (model_key) (rate(inference_requests_total[5m]))",
    'sum by (session_id, status) (increase(inference_requests_total{model_key=~"g.*|"}[10m]))',
    'sum by (token_type) (increase(token_usage_total{agent_name!="bob"}[7m]))',
    "sum by (le) (increase(inference_duration_seconds_bucket[20m]))",
    "sum(increase(inference_duration_seconds_bucket[5m]))",
    "sum by (service_name, agent_name, session_id) (increase(inference_requests_total[5m]))",
    "sum(increase(session_requests_total[5m]))",
    'sum(increase(session_requests_total{agent_name="ada"}[10m]))',
    "sum by (agent_name) (rate(inference_duration_seconds_sum[5m]))",
    "sum by (agent_name) (increase(agent_duration_seconds_count[1m] offset 3m))",
    'sum by (nothing) (increase(agent_tasks_total{nothing="", status!~"suc.*"}[4m]))',
    'sum(increase(agent_tasks_total{nothing!=""}[4m]))',
    "min by (session_id) (min_over_time(session_start_timestamp_seconds[10m]))",
    'max by (agent_name) (max_over_time(session_end_timestamp_seconds{session_id!="s1"}[3m] offset 2m))',
  ]) {
    for (const stepMs of [60_000, 300_000, 420_000]) {
      test(`${query} every ${stepMs / 1000} s`, async () => {
        const times = { startMs: endMs - 3_000_000, endMs, stepMs };
        const storage = storageFor(query);
        let taken = 0;
        const pushed = await queryRange(
          {
            select: (request) => storage.select(request),
            async aggregateWindows(request) {
              const answer = await storage.aggregateWindows!(request);
              if (answer !== null) taken += 1;
              return answer;
            },
          },
          { query, ...times },
        );
        const evaluated = await queryRange({ select: (request) => storage.select(request) }, { query, ...times });
        assert.equal(taken, 1, "the store took it");
        assert.ok(pushed.value.type === "matrix" && evaluated.value.type === "matrix");
        const [left, right] = [plain(pushed.value.series), plain(evaluated.value.series)];
        assert.deepEqual(
          left.map(({ key, timestampsMs }) => ({ key, timestampsMs })),
          right.map(({ key, timestampsMs }) => ({ key, timestampsMs })),
        );
        for (const [index, { values }] of left.entries()) {
          for (const [step, value] of values.entries()) {
            const expected = right[index]!.values[step]!;
            assert.ok(Math.abs(value - expected) <= 1e-9 * Math.max(1, Math.abs(expected)), `${value} not ${expected}`);
          }
        }
      });
    }
  }
});

describe("numbers that the store reduces series to equal the engine's", () => {
  const duration = (windows: string, matchers = ""): string =>
    `avg(max by (session_id) (max_over_time(session_end_timestamp_seconds${matchers}[${windows}])) - min by (session_id) (min_over_time(session_start_timestamp_seconds${matchers}[${windows}])))`;
  for (const query of [
    "count(sum by (session_id) (increase(session_requests_total[10m])) > 0)",
    'count(sum by (session_id, agent_name) (rate(session_requests_total{model_key="gpt"}[1m])) > 0)',
    "count(sum by (model_key) (increase(inference_duration_seconds_count[7m] offset 2m)) > 0)",
    'count(sum by (model_key) (increase(inference_requests_total{model_key="none"}[7m])) > 0)',
    duration("10m"),
    duration("1m"),
    duration("20m", '{agent_name="ada"}'),
    duration("1m", '{session_id="none"}'),
    "sum(increase(session_requests_total[5m])) / (count(sum by (session_id) (increase(session_requests_total[5m])) > 0) > 0)",
  ]) {
    for (const stepMs of [60_000, 300_000, 420_000]) {
      test(`${query} every ${stepMs / 1000} s`, async () => {
        const times = { startMs: endMs - 3_000_000, endMs, stepMs };
        const { reduceWindows, select } = storageFor(query);
        let taken = 0;
        const reduced = await queryRange(
          {
            select,
            aggregateWindows: async () => null,
            async reduceWindows(request) {
              const answer = await reduceWindows!(request);
              if (answer !== null) taken += 1;
              return answer;
            },
          },
          { query, ...times },
        );
        const evaluated = await queryRange({ select }, { query, ...times });
        assert.equal(taken, 1, "the store took it");
        assert.ok(reduced.value.type === "matrix" && evaluated.value.type === "matrix");
        const rounded = (series: readonly MatrixSeries[]): unknown =>
          plain(series).map((each) => ({ ...each, values: [...each.values].map((value) => value.toFixed(5)) }));
        assert.deepEqual(rounded(reduced.value.series), rounded(evaluated.value.series));
      });
    }
  }

  for (const query of [
    "count(sum by (model_key) (increase(inference_duration_seconds_sum[5m])) > 0)",
    "count(sum by (model_key) (increase(inference_requests_total[5m])) > 1)",
    "count by (model_key) (sum by (model_key) (increase(inference_requests_total[5m])) > 0)",
    "count(sum by (model_key) (increase(inference_requests_total[5m])) > bool 0)",
    "avg(max by (session_id) (max_over_time(session_end_timestamp_seconds[5m])) - min by (session_id) (min_over_time(session_start_timestamp_seconds[6m])))",
    'avg(max by (session_id) (max_over_time(session_end_timestamp_seconds{agent_name="ada"}[5m])) - min by (session_id) (min_over_time(session_start_timestamp_seconds[5m])))',
    "avg(max by (session_id) (max_over_time(session_end_timestamp_seconds[5m])) - on (session_id) min by (session_id) (min_over_time(session_start_timestamp_seconds[5m])))",
    "avg(max by (session_id) (max_over_time(session_end_timestamp_seconds[5m])) - min by (agent_name) (min_over_time(session_start_timestamp_seconds[5m])))",
  ]) {
    test(`${query} is the engine's`, async () => {
      const { reduceWindows, select } = storageFor(query);
      let taken = 0;
      await queryRange(
        {
          select,
          aggregateWindows: async () => null,
          async reduceWindows(request) {
            const answer = await reduceWindows!(request);
            if (answer !== null) taken += 1;
            return answer;
          },
        },
        { query, startMs: endMs - 600_000, endMs, stepMs: 60_000 },
      );
      assert.equal(taken, 0);
    });
  }
});

describe("of spans over most of a day, each sent twice,", () => {
  const dayMs = 72_000_000;
  const rows = Array.from({ length: 30_000 }, (_, index): SpanRow => ({
    endMs: endMs - dayMs + ((index + 1) * dayMs) / 30_000,
    durationMs: 1 + (index % 5000),
    project: `project-${index % 3}`,
  }));
  const longMs = 68_400_000;
  beforeTests(() => appendSpans(opened.store, "org_day", [...rows, { endMs: endMs - 60_000, durationMs: longMs }], 2));

  for (const hours of [1, 3, 24]) {
    test(`those that ended in the last ${hours} h count once each, including the one that took 19 h`, async () => {
      const query = `sum(increase(inference_requests_total[${hours}h]))`;
      const storage = createTenantMetrics({
        reader: opened.store.open(scopeOf("org_day")),
        project: undefined,
        namedLabels: namedLabels(parseExpression(query)),
      });
      const { value } = await queryInstant(storage, { query, timeMs: endMs });
      const expected = rows.filter((row) => row.endMs > endMs - hours * 3_600_000).length + 1;
      assert.ok(value.type === "vector");
      assert.deepEqual(
        value.samples.map((sample) => Math.round(sample.value)),
        [expected],
      );
    });
  }
});

/** Metric queries and their results. */
import assert from "node:assert/strict";
import type { MetricsQueryParams } from "@sounding/client";
import type { InterfaceCase } from "./interface-case.ts";
import { isRefusal, vector } from "./telemetry-answers.ts";

interface ExemplarItem {
  readonly seriesLabels: Readonly<Record<string, string>>;
  readonly exemplars: readonly {
    readonly labels: Readonly<Record<string, string>>;
    readonly value: string;
    readonly timestamp: number;
  }[];
}

const names = [
  "token_consumption",
  "agent_task_total",
  "agent_performance_rate",
  "inference_latency",
  "rai_rejection_total",
];

export const metricsCases: readonly InterfaceCase[] = [
  {
    name: "exemplars of a series lead to traces of the organization",
    shows: ["metric-queries/exemplars"],
    async run({ client, facts }) {
      const parameters = new URLSearchParams({
        query: 'rate(inference_duration_seconds_bucket{model_key="large"}[5m])',
      });
      const headers = { authorization: `Bearer ${facts.key}` };
      const path = `${facts.url}/prometheus/api/v1/query_exemplars`;
      const responses = [
        await fetch(`${path}?${parameters.toString()}`, { headers }),
        await fetch(path, { method: "POST", headers, body: parameters }),
      ];
      for (const response of responses) {
        const { data } = (await response.json()) as { data: ExemplarItem[] };
        assert.ok(data.length > 0);
        for (const { exemplars, seriesLabels } of data) {
          assert.equal(seriesLabels["model_key"], "large");
          for (const { labels, timestamp, value } of exemplars) {
            assert.deepEqual([typeof timestamp, typeof value], ["number", "string"]);
            const trace_id = labels["trace_id"]!;
            const { spans } = await client.traces.query({ trace: "inference_traces", trace_id });
            assert.ok(spans.some(({ spanId }) => Buffer.from(spanId, "base64").toString("hex") === labels["span_id"]));
            assert.notEqual(trace_id, facts.strangerTraceId);
          }
        }
      }
    },
  },
  {
    name: "a metric result has a status, the executed query, a type and samples of labels and values",
    shows: [
      "clients/keyed-access",
      "metric-results/status",
      "metric-results/query",
      "metric-results/result_type",
      "metric-results/metric",
      "metric-results/value",
      "metric-results/values",
      "metric-queries/metric",
    ],
    async run({ client }) {
      const result = await client.metrics.query({ metric: "token_consumption", model_key: "large" });
      assert.deepEqual([result.status, result["status"], result.result_type], ["success", "success", "vector"]);
      assert.equal(result["data"].resultType, "vector");
      assert.match(result.query, /token_usage_total\{model_key="large"\}\[1h\]/);
      assert.deepEqual(
        result.samples.map(({ metric, value }) => [metric["token_type"], value![1]]),
        [
          ["input", "100"],
          ["output", "20"],
        ],
      );
      const matrix = await client.metrics.query({ metric: "token_consumption", model_key: "large", step: "30m" });
      assert.equal(matrix.result_type, "matrix");
      assert.ok(matrix.samples.every(({ values }) => values.length > 1 && typeof values[0]![0] === "number"));
    },
  },
  {
    name: "known metrics are accepted, and an unknown name is refused with the known ones",
    shows: ["metric-queries/metric", "telemetry-queries/optional-filters"],
    async run({ client }) {
      for (const metric of names) assert.equal((await client.metrics.query({ metric })).status, "success", metric);
      await assert.rejects(
        async () => client.metrics.query({ metric: "no_such_metric" }),
        (error) => isRefusal("metric")(error) && /agent_task_total/.test((error as Error).message),
      );
      await assert.rejects(async () => client.metrics.query({} as MetricsQueryParams), isRefusal("metric"));
    },
  },
  {
    name: "a metric query covers one project, or all projects of the organization",
    shows: ["telemetry-queries/scope", "metric-queries/project_name"],
    async run({ client }) {
      const tasks = (project_name?: string) => vector(client, { metric: "agent_task_total", project_name });
      assert.deepEqual(await tasks("desk"), { "ToolUseAgent planner success": 1 });
      assert.deepEqual(await tasks(), { "ToolUseAgent planner success": 1 });
      assert.deepEqual(await tasks("shop"), {});
    },
  },
  {
    name: "metrics of agents filter by name, class and status; the default status is success",
    shows: ["metric-queries/agent_name", "metric-queries/agent_class", "metric-queries/status"],
    async run({ client }) {
      const tasks = (params: object) => vector(client, { metric: "agent_task_total", ...params });
      assert.deepEqual(await tasks({}), { "ToolUseAgent planner success": 1 });
      assert.deepEqual(await tasks({ status: "failure" }), { "SearchAgent failure seeker": 1 });
      assert.deepEqual(await tasks({ status: "timeout" }), { "SearchAgent sleeper timeout": 1 });
      assert.deepEqual(await tasks({ status: "failure", agent_class: "ToolUseAgent" }), {});
      assert.deepEqual(await tasks({ status: "failure", agent_name: "seeker" }), { "SearchAgent failure seeker": 1 });
      await assert.rejects(async () => tasks({ status: "lost" }), isRefusal("status"));
      const rate = (params: object) => vector(client, { metric: "agent_performance_rate", ...params });
      assert.deepEqual(await rate({}), { "ToolUseAgent planner": 1 });
      assert.deepEqual(await rate({ status: "timeout" }), { "SearchAgent sleeper": 1 });
      for (const metric of ["agent_latency", "agent_active_count", "agent_tool_calls_total"]) {
        const params = { metric, agent_class: "SearchAgent", agent_name: "seeker" };
        assert.equal((await client.metrics.query(params)).status, "success", metric);
      }
    },
  },
  {
    name: "every metric filters by service",
    shows: ["metric-queries/service_name"],
    async run({ client }) {
      const tasks = (service_name: string) => vector(client, { metric: "agent_task_total", service_name });
      assert.deepEqual(await tasks("desk"), { "ToolUseAgent planner success": 1 });
      assert.deepEqual(await tasks("sounding"), {});
      for (const { filters, name } of (await client.metrics.list()).data) {
        assert.ok(filters.includes("service_name"), name);
      }
    },
  },
  {
    name: "metrics of inference filter by model and session",
    shows: ["metric-queries/model_key", "metric-queries/session_id"],
    async run({ client }) {
      const calls = (params: object) => vector(client, { metric: "inference_model_usage", ...params });
      assert.deepEqual(Object.keys(await calls({ model_key: "large" })), ["large"]);
      assert.deepEqual(Object.keys(await calls({ session_id: "session of seeker" })), ["small"]);
      assert.deepEqual(await calls({ session_id: "session of nobody" }), {});
    },
  },
  {
    name: "rejections filter by category",
    shows: ["metric-queries/category"],
    async run({ client }) {
      const rejected = (category?: MetricsQueryParams["category"]) =>
        vector(client, { metric: "rai_rejection_total", category });
      assert.deepEqual(await rejected(), { violence: 1 });
      assert.deepEqual(await rejected("violence"), { violence: 1 });
      for (const category of ["harassment", "hate", "self-harm", "sexual", "illicit"] as const) {
        assert.deepEqual(await rejected(category), {}, category);
      }
      await assert.rejects(async () => rejected("rudeness" as "hate"), isRefusal("category"));
    },
  },
  {
    name: "percentile is from 0 to 1 or from 1 to 100; the default is 0.95",
    shows: ["metric-queries/percentile"],
    async run({ client }) {
      const latency = (percentile?: string) =>
        client.metrics.query({ metric: "inference_latency", model_key: "large", percentile });
      const values = [];
      for (const percentile of [undefined, "0.95", "95"]) {
        const { query, samples } = await latency(percentile);
        assert.match(query, /^histogram_quantile\(0\.95, /);
        values.push(samples[0]!.value![1]);
      }
      assert.equal(new Set(values).size, 1);
      // The call took two seconds; the histogram reports it within its bucket.
      assert.ok(Number(values[0]) > 1 && Number(values[0]) < 4, values[0]);
      assert.match((await latency("0.5")).query, /^histogram_quantile\(0\.5, /);
      for (const wrong of ["101", "-1", "p95", "NaN"]) {
        await assert.rejects(async () => latency(wrong), isRefusal("percentile"), wrong);
      }
    },
  },
  {
    name: "the default time_window of a metric query is an hour",
    shows: ["metric-queries/time_window"],
    async run({ client }) {
      const calls = (time_window?: string) =>
        vector(client, { metric: "inference_model_usage", model_key: "old", time_window });
      assert.deepEqual(await calls(), {});
      assert.deepEqual(Object.keys(await calls("4h")), ["old"]);
      assert.match((await client.metrics.query({ metric: "inference_requests_total" })).query, /\[1h\]/);
    },
  },
  {
    name: "the window of a metric query ends at end, in RFC 3339 or nanoseconds",
    shows: ["metric-queries/end"],
    async run({ client, facts }) {
      const metric = "inference_requests_total";
      const [own] = Object.values(await vector(client, { metric, model_key: "large" }));
      assert.ok(Number(own) > 0);
      const afterMs = Number(BigInt(facts.atUnixNano) / 1_000_000n) + 300_000;
      for (const [endMs, expected] of [
        [afterMs, own],
        [afterMs + 2 * 3_600_000, "0"],
      ] as const) {
        for (const end of [new Date(endMs).toISOString(), `${endMs}000000`]) {
          const [value = "0"] = Object.values(await vector(client, { metric, model_key: "large", end }));
          assert.equal(value, expected, end);
        }
      }
      await assert.rejects(async () => client.metrics.query({ metric, end: "yesterday" }), isRefusal("end"));
    },
  },
  {
    name: "with step every metric returns a matrix over time_window; a null step is an hour",
    shows: ["metric-queries/step", "metric-queries/instant-or-series"],
    async run({ client }) {
      const { data } = await client.metrics.list();
      assert.ok(data.length > 20);
      for (const { name } of data) {
        const result = await client.metrics.query({ metric: name, time_window: "3h", step: "1h" });
        assert.deepEqual([result.status, result.result_type], ["success", "matrix"], name);
      }
      const requests = async (step: string | null, time_window: string) => {
        const params = { metric: "inference_requests_total", step, time_window };
        const { samples, query } = await client.metrics.query(params);
        const times = samples[0]!.values.map(([time]) => time);
        return { query, steps: times.length, stepSeconds: times[1]! - times[0]! };
      };
      const quarters = await requests("15m", "2h");
      assert.deepEqual([quarters.steps, quarters.stepSeconds], [8, 900]);
      const hours = await requests(null, "4h");
      assert.deepEqual([hours.steps, hours.stepSeconds], [4, 3600]);
      assert.match(hours.query, /\[1h\]/);
      assert.match((await requests("1d", "7d")).query, /\[1d\]/);
    },
  },
];

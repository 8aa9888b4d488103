/** Queries of logs, metrics and traces: sections 1, 2.1, 4.1, 4.2, 4.3 and 8 of the interface. */
import assert from "node:assert/strict";
import { BadRequestError, type AsyncSounding, type MetricsQueryParams } from "@sounding/client";
import type { InterfaceCase } from "./interface-case.ts";

type Client = Pick<AsyncSounding, "logs" | "metrics" | "traces">;
type LogsParams = Parameters<AsyncSounding["logs"]["query"]>[0];

/** The texts of the log entries, newest first. */
async function lines(client: Client, params: LogsParams): Promise<string[]> {
  const { samples } = await client.logs.query(params);
  return samples
    .flatMap(({ values }) => values)
    .sort(([left], [right]) => (BigInt(left) < BigInt(right) ? 1 : -1))
    .map(([, line]) => line);
}

/** Labels, joined, and the value of each sample of a vector; without those that are zero. */
async function vector(client: Client, params: MetricsQueryParams): Promise<Record<string, number>> {
  const { samples } = await client.metrics.query(params);
  const entries = samples.map(({ metric, value }) => [Object.values(metric).sort().join(" "), Number(value![1])]);
  return Object.fromEntries(entries.filter(([, value]) => value !== 0)) as Record<string, number>;
}

const isRefusal =
  (param: string) =>
  (error: unknown): boolean =>
    error instanceof BadRequestError && error.param === param;

const names = [
  "token_consumption",
  "agent_task_total",
  "agent_performance_rate",
  "inference_latency",
  "rai_rejection_total",
];

const logsCases: readonly InterfaceCase[] = [
  {
    name: "a result of logs has a status, a type and streams of times and messages",
    shows: [
      "1/1",
      "2.1/1",
      "2.1/2",
      "2.1/logs.status",
      "2.1/logs.result_type",
      "2.1/logs.stream",
      "2.1/logs.values",
      "4.1/1",
      "4.1/severity",
    ],
    async run({ client, facts }) {
      const result = await client.logs.query({ severity: "error", project_name: "shop" });
      assert.deepEqual([result.status, result["status"], result.result_type], ["success", "success", "streams"]);
      assert.equal(result["data"].resultType, "streams");
      const [sample, ...others] = result.samples;
      assert.equal(others.length, 0);
      assert.equal(sample!.stream["severity"], "error");
      assert.deepEqual(sample!.values, [[facts.atUnixNano, "own failed"]]);
      assert.deepEqual(sample!.values_in_seconds, [[Number(facts.atUnixNano) / 1e9, "own failed"]]);
    },
  },
  {
    name: "a severity is one of four, and each finds its own",
    shows: ["4.1/severity", "4/2"],
    async run({ client }) {
      const severities = { debug: "debugged", info: "informed", warning: "warned", error: "failed" } as const;
      for (const [severity, line] of Object.entries(severities)) {
        const found = await lines(client, { severity: severity as "info", project_name: "shop", time_window: "1h" });
        assert.deepEqual(found, [`own ${line}`]);
      }
      await assert.rejects(async () => client.logs.query({ severity: "fatal" as "error" }), isRefusal("severity"));
      assert.ok((await lines(client, undefined)).length > 4);
    },
  },
  {
    name: "logs are looked for in a project, or in all of the organization's",
    shows: ["1/2", "4.1/project_name"],
    async run({ client }) {
      const projects = async (params: LogsParams): Promise<string[]> => {
        const { samples } = await client.logs.query({ ...params, limit: 5000 });
        return [...new Set(samples.map(({ stream }) => stream["project_name"]!))].sort();
      };
      assert.deepEqual(await projects({ project_name: "shop" }), ["shop"]);
      assert.deepEqual(await projects({ project_name: "nobody's" }), []);
      assert.deepEqual((await projects({})).slice(-2), ["many", "shop"]);
    },
  },
  {
    name: "a window of time is an integer and a unit; of logs it is a day where none is given",
    shows: ["4.1/time_window", "4.3/2", "8/Logs-time_window-default"],
    async run({ client }) {
      const old = async (time_window?: string): Promise<string[]> =>
        (await lines(client, { project_name: "shop", time_window })).filter((line) => line.endsWith("old"));
      assert.deepEqual(await old(), ["own two hours old"]);
      assert.deepEqual(await old("60m"), []);
      assert.deepEqual(await old("3h"), ["own two hours old"]);
      assert.deepEqual(await old("2d"), ["own two hours old", "own thirty hours old"]);
      for (const wrong of ["0h", "-1h", "1.5h", "1s", "1w", "h", "1 h", "one hour"]) {
        await assert.rejects(async () => old(wrong), isRefusal("time_window"), wrong);
      }
    },
  },
  {
    name: "at most limit entries come, 500 where none is given",
    shows: ["4.1/limit", "8/Logs-limit-default"],
    async run({ client }) {
      assert.equal((await lines(client, { project_name: "many" })).length, 500);
      assert.equal((await lines(client, { project_name: "many", limit: 7 })).length, 7);
      assert.equal((await lines(client, { project_name: "many", limit: 600 })).length, 510);
      await assert.rejects(async () => lines(client, { limit: 0 }), isRefusal("limit"));
    },
  },
];

const metricsCases: readonly InterfaceCase[] = [
  {
    name: "a result of metrics has a status, the query that ran, a type and samples of labels and values",
    shows: [
      "2.1/1",
      "2.1/2",
      "2.1/metrics.status",
      "2.1/metrics.query",
      "2.1/metrics.result_type",
      "2.1/metrics.metric",
      "2.1/metrics.values",
      "4.2/1",
      "4.2/metric",
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
    name: "the named metrics exist, and a name that does not is refused with those that do",
    shows: ["4.2/metric", "4/2"],
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
    name: "metrics are counted in a project, or over all of the organization's",
    shows: ["1/2", "4.2/project_name"],
    async run({ client }) {
      const tasks = (project_name?: string) => vector(client, { metric: "agent_task_total", project_name });
      assert.deepEqual(await tasks("desk"), { "ToolUseAgent planner success": 1 });
      assert.deepEqual(await tasks(), { "ToolUseAgent planner success": 1 });
      assert.deepEqual(await tasks("shop"), {});
    },
  },
  {
    name: "agents are counted by their name, their class and how they ended, with success where nothing is said",
    shows: ["4.2/agent_name", "4.2/agent_class", "4.2/status"],
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
    name: "calls of models are narrowed to a model and to a session",
    shows: ["4.2/model_key", "4.2/session_id"],
    async run({ client }) {
      const calls = (params: object) => vector(client, { metric: "inference_model_usage", ...params });
      assert.deepEqual(Object.keys(await calls({ model_key: "large" })), ["large"]);
      assert.deepEqual(Object.keys(await calls({ session_id: "session of seeker" })), ["small"]);
      assert.deepEqual(await calls({ session_id: "session of nobody" }), {});
    },
  },
  {
    name: "rejections are counted by their category",
    shows: ["4.2/category"],
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
    name: "a percentile is a share or a percentage, 0.95 where none is given",
    shows: ["4.2/percentile"],
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
      // The call took two seconds; the histogram's buckets say it within theirs.
      assert.ok(Number(values[0]) > 1 && Number(values[0]) < 4, values[0]);
      assert.match((await latency("0.5")).query, /^histogram_quantile\(0\.5, /);
      for (const wrong of ["101", "-1", "p95", "NaN"]) {
        await assert.rejects(async () => latency(wrong), isRefusal("percentile"), wrong);
      }
    },
  },
  {
    name: "the window of metrics is an hour where none is given",
    shows: ["4.2/time_window", "8/Metrics-time_window-default"],
    async run({ client }) {
      const calls = (time_window?: string) =>
        vector(client, { metric: "inference_model_usage", model_key: "old", time_window });
      assert.deepEqual(await calls(), {});
      assert.deepEqual(Object.keys(await calls("4h")), ["old"]);
      assert.match((await client.metrics.query({ metric: "inference_requests_total" })).query, /\[1h\]/);
    },
  },
  {
    name: "with a step every metric is a matrix: the window is the look-back, the step the interval, an hour where it is null",
    shows: ["4.2/step", "4.2/2", "4.2/3", "8/Metrics-step-default"],
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

const tracesCases: readonly InterfaceCase[] = [
  {
    name: "a result of traces has traces, batches of a resource and scopes, and all spans in one list",
    shows: [
      "2.1/1",
      "2.1/2",
      "2.1/traces.traces",
      "2.1/traces.batches",
      "2.1/traces.spans",
      "4.3/1",
      "4.3/trace",
      "4.3/trace_id",
    ],
    async run({ client, facts }) {
      const result = await client.traces.query({ trace: "inference_traces", trace_id: facts.traceId });
      assert.deepEqual([result.status, result["traces"].length], ["success", 1]);
      assert.equal(result.traces[0]!.traceID, facts.traceId);
      const [batch] = result["batches"];
      assert.ok(JSON.stringify(batch!.resource).includes("desk"));
      assert.equal(batch!.scope_spans.flatMap(({ spans }) => spans).length, 5);
      assert.deepEqual(result.spans.map((span) => span["name"]!).sort(), [
        "own chat large",
        "own chat small",
        "own invoke_agent planner",
        "own invoke_agent seeker",
        "own invoke_agent sleeper",
      ]);
      const refused = result.spans.find((span) => span["name"] === "own chat small");
      assert.deepEqual(refused!["status"], { code: "STATUS_CODE_ERROR", message: "refused" });
    },
  },
  {
    name: "a trace's name says which traces, and one that does not exist is refused with those that do",
    shows: ["4.3/trace", "4/2"],
    async run({ client, facts }) {
      for (const trace of ["inference_traces", "distiller_traces"]) {
        const { traces } = await client.traces.query({ trace, project_name: "desk", limit: 1000 });
        assert.ok(
          traces.some(({ traceID }) => traceID === facts.traceId),
          trace,
        );
        assert.equal(traces.length, trace === "inference_traces" ? 106 : 1);
      }
      await assert.rejects(
        async () => client.traces.query({ trace: "no_such_traces" }),
        (error) => isRefusal("trace")(error) && /inference_traces/.test((error as Error).message),
      );
      await assert.rejects(async () => client.traces.query({} as { trace: string }), isRefusal("trace"));
    },
  },
  {
    name: "traces are looked for in a project, or in all of the organization's",
    shows: ["1/2", "4.3/project_name"],
    async run({ client }) {
      const count = async (project_name?: string): Promise<number> =>
        (await client.traces.query({ trace: "distiller_traces", project_name })).traces.length;
      assert.deepEqual([await count("desk"), await count("shop"), await count()], [1, 0, 1]);
    },
  },
  {
    name: "the window of traces is an hour where none is given",
    shows: ["4.3/time_window"],
    async run({ client }) {
      const isOldThere = async (time_window?: string): Promise<boolean> => {
        const params = { trace: "inference_traces", time_window, limit: 1000, detail: false };
        return (await client.traces.query(params)).traces.some(({ traceID }) => traceID === "f".repeat(32));
      };
      assert.deepEqual([await isOldThere(), await isOldThere("4h")], [false, true]);
    },
  },
  {
    name: "traces come with their spans unless detail is false",
    shows: ["4.3/detail"],
    async run({ client, facts }) {
      const params = { trace: "all_traces", trace_id: facts.traceId };
      assert.equal((await client.traces.query(params)).spans.length, 5);
      assert.equal((await client.traces.query({ ...params, detail: true })).spans.length, 5);
      const plain = await client.traces.query({ ...params, detail: false });
      assert.deepEqual([plain.traces.length, plain.batches, plain.spans], [1, [], []]);
    },
  },
  {
    name: "at most limit traces come, 100 where none is given",
    shows: ["4.3/limit", "8/Traces-limit-default"],
    async run({ client }) {
      const count = async (limit?: number): Promise<number> => {
        const params = { trace: "inference_traces", project_name: "desk", limit, detail: false };
        return (await client.traces.query(params)).traces.length;
      };
      assert.deepEqual([await count(), await count(3), await count(1000)], [100, 3, 106]);
      await assert.rejects(async () => count(0), isRefusal("limit"));
    },
  },
  {
    name: "query takes the same parameters for each kind in both clients",
    shows: ["4.3/3"],
    async run({ client }) {
      const shared = { project_name: "desk", time_window: "1h" };
      const results = [
        await client.logs.query({ ...shared, severity: "info", limit: 1 }),
        await client.metrics.query({ ...shared, metric: "inference_latency", percentile: "50", step: "15m" }),
        await client.traces.query({ ...shared, trace: "error_traces", detail: false, limit: 1 }),
      ];
      assert.deepEqual(
        results.map(({ status }) => status),
        ["success", "success", "success"],
      );
    },
  },
];

const tenantCases: readonly InterfaceCase[] = [
  {
    name: "an organization reads its own data alone, and another's trace is not there",
    shows: ["1/3", "5/5"],
    async run({ client, make, facts }) {
      const stranger = make({ apiKey: facts.strangerKey });
      for (const [reader, own, foreign] of [
        [client, "own", facts.strangerTraceId],
        [stranger, "strange", facts.traceId],
      ] as const) {
        const found = await lines(reader, { limit: 5000, time_window: "7d" });
        assert.ok(found.some((line) => line.startsWith(`${own} `)));
        // Of this organization there are also records of its own calls.
        const other = own === "own" ? "strange " : "own ";
        assert.deepEqual(
          found.filter((line) => line.startsWith(other)),
          [],
        );
        assert.deepEqual((await reader.traces.query({ trace: "all_traces", trace_id: foreign })).traces, []);
        const { spans } = await reader.traces.query({ trace: "distiller_traces" });
        assert.ok(spans.length > 0 && spans.every(({ name }) => name?.startsWith(own)));
        assert.deepEqual(await vector(reader, { metric: "agent_task_total" }), { "ToolUseAgent planner success": 1 });
      }
    },
  },
];

export const telemetryCases: readonly InterfaceCase[] = [...logsCases, ...metricsCases, ...tracesCases, ...tenantCases];

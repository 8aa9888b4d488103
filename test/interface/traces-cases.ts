/** Trace queries and their results, and the isolation of tenants. */
import assert from "node:assert/strict";
import type { InterfaceCase } from "./interface-case.ts";
import { isRefusal, lines, vector } from "./telemetry-answers.ts";

export const tracesCases: readonly InterfaceCase[] = [
  {
    name: "a trace result has traces, batches with a resource and scopes, and all spans in one list",
    shows: [
      "clients/keyed-access",
      "trace-results/traces",
      "trace-results/batches",
      "trace-results/spans",
      "trace-queries/trace",
      "trace-queries/trace_id",
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
    name: "a trace has a summary, with and without its spans",
    shows: ["trace-results/summary"],
    async run({ client, facts }) {
      for (const detail of [true, false]) {
        const { traces } = await client.traces.query({ trace: "all_traces", trace_id: facts.traceId, detail });
        const { durationNanos, ...summary } = traces[0]!.summary;
        assert.equal(Math.floor(Number(durationNanos) / 1e6), traces[0]!.durationMs);
        assert.deepEqual(summary, {
          spanCount: 5,
          errorCount: 1,
          status: "unset",
          models: [
            { model: "large", calls: 1, inputTokens: 100, outputTokens: 20 },
            { model: "small", calls: 1, inputTokens: 0, outputTokens: 0 },
          ],
          cost: 0.00018,
        });
      }
    },
  },
  {
    name: "trace selects a kind of trace, and an unknown name is refused with the known ones",
    shows: ["trace-queries/trace", "telemetry-queries/optional-filters"],
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
    name: "a trace query covers one project, or all projects of the organization",
    shows: ["telemetry-queries/scope", "trace-queries/project_name"],
    async run({ client }) {
      const count = async (project_name?: string): Promise<number> =>
        (await client.traces.query({ trace: "distiller_traces", project_name })).traces.length;
      assert.deepEqual([await count("desk"), await count("shop"), await count()], [1, 0, 1]);
    },
  },
  {
    name: "the default time_window of a trace query is an hour",
    shows: ["trace-queries/time_window"],
    async run({ client }) {
      const isOldThere = async (time_window?: string): Promise<boolean> => {
        const params = { trace: "inference_traces", time_window, limit: 1000, detail: false };
        return (await client.traces.query(params)).traces.some(({ traceID }) => traceID === "f".repeat(32));
      };
      assert.deepEqual([await isOldThere(), await isOldThere("4h")], [false, true]);
    },
  },
  {
    name: "traces include their spans unless detail is false",
    shows: ["trace-queries/detail"],
    async run({ client, facts }) {
      const params = { trace: "all_traces", trace_id: facts.traceId };
      assert.equal((await client.traces.query(params)).spans.length, 5);
      assert.equal((await client.traces.query({ ...params, detail: true })).spans.length, 5);
      const plain = await client.traces.query({ ...params, detail: false });
      assert.deepEqual([plain.traces.length, plain.batches, plain.spans], [1, [], []]);
    },
  },
  {
    name: "limit bounds the number of traces; the default is 100",
    shows: ["trace-queries/limit"],
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
    shows: ["clients/telemetry-operations"],
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

export const tenantCases: readonly InterfaceCase[] = [
  {
    name: "an organization reads only its own data, and another organization's trace does not exist for it",
    shows: ["authentication-and-tenants/tenant-isolation"],
    async run({ client, make, facts }) {
      const stranger = make({ apiKey: facts.strangerKey });
      for (const [reader, own, foreign] of [
        [client, "own", facts.strangerTraceId],
        [stranger, "strange", facts.traceId],
      ] as const) {
        const found = await lines(reader, { limit: 5000, time_window: "7d" });
        assert.ok(found.some((line) => line.startsWith(`${own} `)));
        // This organization also has records of its own calls.
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

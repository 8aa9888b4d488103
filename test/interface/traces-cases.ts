/** Trace queries and their results, and the isolation of tenants. */
import assert from "node:assert/strict";
import type { InterfaceCase } from "./interface-case.ts";
import { isRefusal, lines, vector } from "./telemetry-answers.ts";

const uncached = { cacheReadTokens: 0, cacheWriteTokens: 0 };
const noneCached = { cache_read_tokens: 0, cache_write_tokens: 0 };

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
            { model: "large", calls: 1, inputTokens: 100, outputTokens: 20, ...uncached },
            { model: "small", calls: 1, inputTokens: 0, outputTokens: 0, ...uncached },
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
    name: "trace queries filter by service, operation, model, status, duration, attributes, conversation and text",
    shows: [
      "trace-queries/service_name",
      "trace-queries/operation",
      "trace-queries/model",
      "trace-queries/status",
      "trace-queries/min_duration_ms",
      "trace-queries/max_duration_ms",
      "trace-queries/attributes",
      "trace-queries/conversation_id",
      "trace-queries/search",
      "trace-queries/matching",
      "authentication-and-tenants/tenant-isolation",
    ],
    async run({ client, make, facts }) {
      const stranger = make({ apiKey: facts.strangerKey });
      for (const filter of [
        { service_name: "desk", status: "error" },
        { operation: "chat", model: "large" },
        { status: "error", search: "CHAT small" },
        { min_duration_ms: 2000, max_duration_ms: 2000, model: "large" },
        { attributes: { "gen_ai.guardrail.risk.category": "violence" } },
        { conversation_id: "session of planner" },
        { search: "REFUSED" },
      ] as const) {
        const query = { trace: "all_traces", project_name: "desk", detail: false, ...filter };
        const found = async (reader: typeof client) =>
          (await reader.traces.query(query)).traces.map(({ traceID }) => traceID);
        assert.deepEqual(await found(client), [facts.traceId], JSON.stringify(filter));
        assert.deepEqual(await found(stranger), [facts.strangerTraceId], JSON.stringify(filter));
      }
      const none = { trace: "all_traces", status: "error", model: "large" } as const;
      assert.deepEqual((await client.traces.query(none)).traces, []);
      const wrong = { trace: "all_traces", min_duration_ms: 2, max_duration_ms: 1 };
      await assert.rejects(async () => client.traces.query(wrong), isRefusal("min_duration_ms"));
    },
  },
  {
    name: "start and end bound a trace query, the end exclusively",
    shows: ["trace-queries/start", "trace-queries/end"],
    async run({ client, facts }) {
      const at = BigInt(facts.atUnixNano);
      const found = async (start: bigint, end: bigint) => {
        const params = { trace: "distiller_traces", detail: false, start: String(start), end: String(end) };
        return (await client.traces.query(params)).traces.length;
      };
      assert.deepEqual([await found(at, at + 1n), await found(at - 1n, at), await found(at + 1n, at + 2n)], [1, 0, 0]);
      await assert.rejects(
        async () => client.traces.query({ trace: "all_traces", start: "today" }),
        isRefusal("start"),
      );
    },
  },
  {
    name: "pages of traces contain each trace once, also with equal starts",
    shows: ["trace-queries/cursor", "trace-queries/trace-pages", "trace-results/next_cursor", "clients/trace-pages"],
    async run({ client }) {
      const found: string[] = [];
      const cursors: (string | null | undefined)[] = [];
      const params = { trace: "inference_traces", project_name: "desk", limit: 25, detail: false };
      for await (const page of client.traces.pages(params)) {
        cursors.push(page.next_cursor);
        found.push(...page.traces.map(({ traceID }) => traceID));
        const { projects, services } = page.traces[0]!.summary;
        assert.deepEqual([projects, services], [["desk"], ["desk"]]);
      }
      assert.deepEqual([cursors.length, cursors.at(-1)], [5, null]);
      assert.deepEqual([found.length, new Set(found).size], [106, 106]);
      assert.equal((await client.traces.query(params))["next_cursor"], undefined);
      await assert.rejects(async () => client.traces.query({ ...params, cursor: "x" }), isRefusal("cursor"));
    },
  },
  {
    name: "a histogram counts the traces that match, with failures and durations, in buckets of a known width",
    shows: [
      "clients/trace-operations",
      "trace-histograms/step",
      "trace-histograms/step_seconds",
      "trace-histograms/buckets",
    ],
    async run({ client }) {
      const params = { trace: "inference_traces", project_name: "desk" };
      const chosen = await client.traces.histogram(params);
      assert.equal(chosen.step_seconds, 30);
      assert.ok(chosen.buckets.length >= 60 && chosen.buckets.length <= 122);
      const { step_seconds, buckets } = await client.traces.histogram({ ...params, step: "1h", time_window: "2h" });
      assert.equal(step_seconds, 3600);
      assert.equal(
        buckets.reduce((sum, { traces }) => sum + traces, 0),
        106,
      );
      assert.ok(buckets.some(({ duration_ms }) => duration_ms.p95 !== null && duration_ms.p95 >= duration_ms.p50!));
      assert.ok(buckets.every(({ failed }) => failed === 0));
      await assert.rejects(async () => client.traces.histogram({ step: "1s", time_window: "1h" }), isRefusal("step"));
    },
  },
  {
    name: "conversations have the turns, calls, tokens and cost of their traces, each organization its own",
    shows: ["clients/trace-operations", "conversations/data", "conversations/next_cursor"],
    async run({ client, make, facts }) {
      const stranger = make({ apiKey: facts.strangerKey });
      const at = new Date(Number(BigInt(facts.atUnixNano) / 1_000_000n)).toISOString();
      for (const reader of [client, stranger]) {
        const { data } = await reader.traces.conversations({ project_name: "desk" });
        assert.deepEqual(
          data.map(({ id }) => id).sort(),
          ["planner", "seeker", "sleeper"].map((name) => `session of ${name}`),
        );
        const { ended_at, models, ...planner } = data.find(({ id }) => id === "session of planner")!;
        assert.ok(ended_at > at);
        assert.deepEqual(
          models.map(({ model }) => model),
          ["large", "small"],
        );
        assert.deepEqual(planner, {
          id: "session of planner",
          started_at: at,
          turns: 1,
          calls: 2,
          errors: 1,
          input_tokens: 100,
          output_tokens: 20,
          ...noneCached,
          cost: 0.00018,
          projects: ["desk"],
          services: ["desk"],
        });
      }
      const found: string[] = [];
      for (let cursor: string | null = ""; cursor !== null;) {
        const page: Awaited<ReturnType<typeof client.traces.conversations>> = await client.traces.conversations({
          search: "SESSION OF",
          limit: 2,
          cursor,
        });
        found.push(...page.data.map(({ id }) => id));
        cursor = page.next_cursor;
      }
      assert.deepEqual([found.length, new Set(found).size], [3, 3]);
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

/** Log queries and their results. */
import assert from "node:assert/strict";
import type { InterfaceCase } from "./interface-case.ts";
import { isRefusal, lines, type LogsParams } from "./telemetry-answers.ts";

export const logsCases: readonly InterfaceCase[] = [
  {
    name: "a log result has a status, a type and streams of timestamps and messages",
    shows: [
      "clients/keyed-access",
      "log-results/status",
      "log-results/result_type",
      "log-results/stream",
      "log-results/values",
      "log-queries/severity",
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
    name: "each of the four severities matches exactly its level",
    shows: ["log-queries/severity", "telemetry-queries/optional-filters"],
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
    name: "a log query covers one project, or all projects of the organization",
    shows: ["telemetry-queries/scope", "log-queries/project_name"],
    async run({ client }) {
      const projects = async (params: LogsParams): Promise<string[]> => {
        const { samples } = await client.logs.query({ ...params, limit: 5000 });
        return [...new Set(samples.map(({ stream }) => stream["project_name"]!))].sort();
      };
      assert.deepEqual(await projects({ project_name: "shop" }), ["shop"]);
      assert.deepEqual(await projects({ project_name: "nobody's" }), []);
      assert.deepEqual((await projects({})).slice(-3), ["detailed", "many", "shop"]);
    },
  },
  {
    name: "time_window is an integer and a unit; for logs the default is a day",
    shows: ["log-queries/time_window", "telemetry-queries/time-window"],
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
    name: "limit bounds the number of log records; the default is 500",
    shows: ["log-queries/limit"],
    async run({ client }) {
      assert.equal((await lines(client, { project_name: "many" })).length, 500);
      assert.equal((await lines(client, { project_name: "many", limit: 7 })).length, 7);
      assert.equal((await lines(client, { project_name: "many", limit: 600 })).length, 510);
      await assert.rejects(async () => lines(client, { limit: 0 }), isRefusal("limit"));
    },
  },
  {
    name: "log queries filter by level, text, service, trace, span and attributes, and combine the filters",
    shows: [
      "log-queries/min_severity",
      "log-queries/search",
      "log-queries/service_name",
      "log-queries/trace_id",
      "log-queries/span_id",
      "log-queries/attributes",
      "log-queries/filters",
      "authentication-and-tenants/tenant-isolation",
    ],
    async run({ client, facts }) {
      const found = (params: LogsParams) => lines(client, params);
      const warnings = await found({ project_name: "shop", min_severity: "warning", time_window: "1h" });
      assert.deepEqual(warnings.sort(), ["own failed", "own warned"]);
      assert.deepEqual(await found({ search: "OWN FAIL" }), ["own failed"]);
      assert.deepEqual(await found({ service_name: "detailed" }), ["own with details"]);
      assert.deepEqual(await found({ trace_id: facts.traceId }), ["own with details"]);
      assert.deepEqual(await found({ span_id: facts.logSpanId }), ["own with details"]);
      assert.deepEqual(await found({ attributes: { "user.id": 7, "host.name": "h1" } }), ["own with details"]);
      assert.deepEqual(await found({ attributes: { "user.id": 7 }, severity: "error" }), []);
      assert.deepEqual(await found({ trace_id: facts.strangerTraceId }), []);
      for (const params of [
        { min_severity: "fatal" as "error" },
        { search: "" },
        { service_name: "" },
        { trace_id: "x" },
        { span_id: "x" },
        { attributes: "user.id=7" as unknown as Record<string, string> },
      ]) {
        await assert.rejects(async () => client.logs.query(params), isRefusal(Object.keys(params)[0]!));
      }
    },
  },
  {
    name: "a log query excludes levels, services, projects and attributes",
    shows: [
      "log-queries/severities",
      "log-queries/exclude_severities",
      "log-queries/exclude_services",
      "log-queries/exclude_projects",
      "log-queries/exclude_attributes",
    ],
    async run({ client }) {
      const found = async (params: LogsParams): Promise<string[]> =>
        (await lines(client, { time_window: "1h", ...params })).sort();
      const shop = { project_name: "shop" };
      assert.deepEqual(await found({ ...shop, severities: ["error", "debug"] }), ["own debugged", "own failed"]);
      const excluded: LogsParams = { ...shop, exclude_severities: ["error", "debug"] };
      assert.deepEqual(await found(excluded), ["own informed", "own warned"]);
      const others = { exclude_services: ["many", "sounding", "shop"] };
      assert.deepEqual(await found(others), ["own with details"]);
      assert.deepEqual(await found({ exclude_services: ["sounding"], exclude_projects: ["many", "shop"] }), [
        "own with details",
      ]);
      assert.deepEqual(await found({ ...others, exclude_attributes: { "user.id": [6, "7"] } }), []);
      assert.deepEqual(await found({ ...others, exclude_attributes: { "host.name": ["h1"] } }), []);
      assert.deepEqual(await found({ ...others, exclude_attributes: { "user.id": [8] } }), ["own with details"]);
      const refused: readonly (readonly [param: string, params: LogsParams])[] = [
        ["severities", { severities: [] }],
        ["exclude_severities[0]", { exclude_severities: ["fatal" as "error"] }],
        ["exclude_services[0]", { exclude_services: [""] }],
        ["exclude_projects", { exclude_projects: [] }],
        ["exclude_attributes.user.id", { exclude_attributes: { "user.id": [] } }],
      ];
      for (const [param, params] of refused) {
        await assert.rejects(async () => client.logs.query(params), isRefusal(param), param);
      }
    },
  },
  {
    name: "forward returns the oldest log records first, and an ID is a cursor to those around it",
    shows: ["log-queries/direction", "log-queries/ids", "log-results/record-ids"],
    async run({ client }) {
      const shop = { project_name: "shop", time_window: "3d" };
      const all = await client.logs.query({ ...shop, direction: "forward", detail: true, ids: true });
      const entries = all["data"].result.flatMap(({ values }) => values);
      assert.deepEqual(
        entries.slice(0, 2).map(([, line]) => line),
        ["own thirty hours old", "own two hours old"],
      );
      const cursor = entries[1]![2]!.id!;
      const around = async (direction: "backward" | "forward"): Promise<string[]> =>
        (await lines(client, { ...shop, direction, cursor })).sort();
      assert.deepEqual(await around("backward"), ["own thirty hours old"]);
      assert.deepEqual(await around("forward"), ["own debugged", "own failed", "own informed", "own warned"]);
      await assert.rejects(async () => client.logs.query({ ids: true }), isRefusal("ids"));
      await assert.rejects(async () => client.logs.query({ direction: "up" as "forward" }), isRefusal("direction"));
    },
  },
  {
    name: "a log histogram counts records by time and level",
    shows: [
      "log-histograms/step",
      "log-histograms/step_seconds",
      "log-histograms/total",
      "log-histograms/buckets",
      "log-histograms/counted-once",
      "clients/log-histogram",
    ],
    async run({ client, facts }) {
      const minute = 60_000_000_000n;
      const at = BigInt(facts.atUnixNano) - (BigInt(facts.atUnixNano) % minute);
      const range = { start: String(at), end: String(at + minute), project_name: "shop" };
      const start = new Date(Number(at / 1_000_000n)).toISOString();
      assert.deepEqual(await client.logs.histogram({ ...range, step: "1m" }), {
        step_seconds: 60,
        total: 4,
        buckets: [{ start, debug: 1, info: 1, warning: 1, error: 1 }],
      });
      assert.equal((await client.logs.histogram({ time_window: "1h" })).step_seconds, 30);
      await assert.rejects(async () => client.logs.histogram({ time_window: "1h", step: "1s" }), isRefusal("step"));
    },
  },
  {
    name: "start and end bound a log query, the end exclusively",
    shows: ["log-queries/start", "log-queries/end"],
    async run({ client, facts }) {
      const at = BigInt(facts.atUnixNano);
      const before = { project_name: "shop", severity: "error" } as const;
      assert.deepEqual(await lines(client, { ...before, start: String(at), end: String(at + 1n) }), ["own failed"]);
      assert.deepEqual(await lines(client, { ...before, start: String(at - 1n), end: String(at) }), []);
      const later = new Date(Date.now() + 60_000).toISOString();
      assert.deepEqual(await lines(client, { ...before, end: later }), ["own failed"]);
      await assert.rejects(async () => client.logs.query({ start: "today" }), isRefusal("start"));
      await assert.rejects(async () => client.logs.query({ end: "1795229417" }), isRefusal("end"));
    },
  },
  {
    name: "pages of logs contain each record once, also with equal timestamps",
    shows: ["log-queries/cursor", "log-queries/pages", "log-results/next_cursor", "clients/log-pages"],
    async run({ client }) {
      const found: string[] = [];
      const cursors: (string | null | undefined)[] = [];
      for await (const page of client.logs.pages({ project_name: "many", limit: 100 })) {
        cursors.push(page.next_cursor);
        for (const { values } of page.samples) for (const [, message] of values) found.push(message);
      }
      assert.deepEqual([cursors.length, cursors.at(-1)], [6, null]);
      assert.deepEqual([found.length, new Set(found).size], [510, 510]);
      assert.equal((await client.logs.query({ project_name: "many" }))["next_cursor"], undefined);
      await assert.rejects(async () => client.logs.query({ cursor: "x" }), isRefusal("cursor"));
    },
  },
  {
    name: "with detail each entry has its attributes, and without there are pairs only",
    shows: ["log-queries/detail", "log-results/entries", "log-results/details"],
    async run({ client, facts }) {
      const attributes = { "user.id": "7", "exception.stacktrace": "Error: own\n    at shop.ts:1" };
      const detailed = await client.logs.query({ service_name: "detailed", detail: true });
      const pair = [facts.atUnixNano, "own with details"];
      assert.deepEqual(detailed["data"].result[0]!.values, [[...pair, { structuredMetadata: attributes }]]);
      const entry = { timestamp_ns: facts.atUnixNano, message: "own with details" };
      assert.deepEqual(detailed.samples[0]!.entries, [{ ...entry, attributes }]);
      assert.deepEqual(detailed.samples[0]!.values, [pair]);
      const plain = await client.logs.query({ service_name: "detailed" });
      assert.deepEqual(plain["data"].result[0]!.values, [pair]);
      assert.deepEqual(plain.samples[0]!.entries, [{ ...entry, attributes: undefined }]);
    },
  },
];

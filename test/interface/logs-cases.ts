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
      assert.deepEqual((await projects({})).slice(-2), ["many", "shop"]);
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
];

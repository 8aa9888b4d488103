/** Histograms of logs, reading forward, and entries by ID, through the real server and its real store. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { LogHistogram } from "../packages/client/src/index.ts";
import { newLogTenant, type LogsAnswer, type LogTenant } from "./support/log-tenant.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";
import { beforeTests } from "./support/hooks.ts";

let server: RunningServer;
const hour = 3_600_000_000_000n;
/** The begin of an hour, some hours ago. */
const start = BigInt(Date.now()) * 1_000_000n - 6n * hour - ((BigInt(Date.now()) * 1_000_000n) % hour);

beforeTests(async (stack) => {
  server = stack.use(await startServer("", { telemetry: true }));
  await untilTelemetryReady(server);
});

const at = (seconds: number): bigint => start + BigInt(seconds) * 1_000_000_000n;
const range = (from: number, to: number) => ({ start: String(at(from)), end: String(at(to)) });

async function histogramOf(tenant: LogTenant, body: object): Promise<LogHistogram> {
  const response = await tenant.call("/observability/logs/histogram", body);
  assert.equal(response.status, 200, await response.clone().text());
  return (await response.json()) as LogHistogram;
}

describe("a log histogram", { timeout: 120_000 }, () => {
  let own: LogTenant;
  beforeTests(async () => {
    const other = await newLogTenant(server);
    own = await newLogTenant(server);
    const entry = (seconds: number, severityNumber: number, body = "x") => ({
      unixNano: at(seconds),
      body,
      more: { severityNumber },
    });
    const entries = [entry(0, 17), entry(59, 9), entry(59, 9, "y"), entry(60, 5), entry(180, 13), entry(239, 17)];
    const resource = { "service.name": "shop", "project.name": "p" };
    // Sent twice, as by an exporter that retries: each entry counts once.
    for (let times = 0; times < 2; times += 1) await own.sender.logs(resource, entries);
    await own.sender.logs({ "service.name": "till", "project.name": "q" }, [entry(60, 9, "z")]);
    for (let times = 0; times < 5; times += 1) await other.sender.logs(resource, [entry(times * 60, 17, "other")]);
  });

  const bucket = (seconds: number, debug: number, info: number, warning: number, error: number) => ({
    start: new Date(Number(at(seconds) / 1_000_000n)).toISOString(),
    debug,
    info,
    warning,
    error,
  });

  test("counts the organization's own entries by level and step, each once", async () => {
    assert.deepEqual(await histogramOf(own, { ...range(0, 240), step: "1m" }), {
      step_seconds: 60,
      total: 7,
      buckets: [bucket(0, 0, 2, 0, 1), bucket(60, 1, 1, 0, 0), bucket(120, 0, 0, 0, 0), bucket(180, 0, 0, 1, 1)],
    });
  });

  test("has buckets at multiples of the step, and counts only entries of the range", async () => {
    const { buckets } = await histogramOf(own, { ...range(59, 181), step: "2m" });
    assert.deepEqual(buckets, [bucket(0, 1, 3, 0, 0), bucket(120, 0, 0, 1, 0)]);
  });

  test("has the filters of a log query, exclusions included", async () => {
    const total = async (filter: object) => (await histogramOf(own, { ...range(0, 240), ...filter })).total;
    assert.equal(await total({}), 7);
    assert.equal(await total({ project_name: "q" }), 1);
    assert.equal(await total({ min_severity: "warning" }), 3);
    assert.equal(await total({ severities: ["debug", "error"] }), 3);
    assert.equal(await total({ exclude_services: ["shop"] }), 1);
    assert.equal(await total({ exclude_attributes: { "service.name": ["till"] } }), 6);
    assert.equal(await total({ search: "Y" }), 1);
    assert.equal(await total({ search: `x' OR 1=1 --"` }), 0);
    assert.equal(await total({ service_name: `') OR organization != ('` }), 0);
  });

  test("chooses a step that gives 48 to 121 buckets", async () => {
    for (const time_window of ["5m", "1h", "24h", "7d", "365d"]) {
      const { buckets, step_seconds } = await histogramOf(own, { time_window });
      assert.ok(
        buckets.length >= 48 && buckets.length <= 121,
        `${time_window}: ${buckets.length} of ${step_seconds} s`,
      );
    }
  });

  test("counts entries with a time in the future in the last bucket", async () => {
    const { sender } = own;
    const unixNano = BigInt(Date.now() + 120_000) * 1_000_000n;
    await sender.logs({ "service.name": "fast clock" }, [{ unixNano, body: "soon", more: { severityNumber: 9 } }]);
    const { buckets, total } = await histogramOf(own, { time_window: "5m", service_name: "fast clock" });
    assert.deepEqual([total, buckets.at(-1)!.info], [1, 1]);
  });

  test("refuses what it does not understand, and more than 1,000 buckets", async () => {
    const refused: readonly (readonly [body: object, param: string, message: RegExp])[] = [
      [{ step: "0s" }, "step", /"0s"; expected an integer of at least 1 followed by s/],
      [{ step: 60 }, "step", /is 60; expected a string/],
      [{ ...range(0, 3600), step: "1s" }, "step", /"1s"; expected at most 1000 buckets, but the time range has 3600/],
      [{ limit: 5 }, "limit", /is not a known field/],
      [{ severities: ["fatal"] }, "severities[0]", /"fatal"/],
      [{ start: "yesterday" }, "start", /"yesterday"/],
    ];
    for (const [body, param, message] of refused) {
      const response = await own.call("/observability/logs/histogram", body);
      const { error } = (await response.json()) as { error: { param: string; message: string } };
      assert.deepEqual([response.status, error.param], [400, param], JSON.stringify(body));
      assert.match(error.message, message);
    }
  });

  test("of a key that may not read telemetry is refused", async () => {
    const admin = { authorization: `Bearer ${server.operatorKey}` };
    const made = await server.call("/admin/v1/organizations", { name: "writers" }, admin);
    const { id } = (await made.json()) as { id: string };
    const key = { organization_id: id, name: "writer", permissions: ["telemetry_write"] };
    const { secret } = (await (await server.call("/admin/v1/keys", key, admin)).json()) as { secret: string };
    const response = await server.call("/observability/logs/histogram", {}, { authorization: `Bearer ${secret}` });
    assert.equal(response.status, 403);
  });
});

describe("reading logs forward", { timeout: 120_000 }, () => {
  const numbered = (answer: LogsAnswer): string[] =>
    answer.data.result.flatMap(({ values }) => values.map(([, line]) => line));
  let own: LogTenant;
  beforeTests(async () => {
    const other = await newLogTenant(server);
    own = await newLogTenant(server);
    const entries = Array.from({ length: 20 }, (_, index) => ({
      unixNano: at(index < 15 ? 0 : index * 600),
      body: String(index),
    }));
    for (const project of ["a", "b"]) await own.sender.logs({ "project.name": project, "service.name": "s" }, entries);
    await other.sender.logs({ "project.name": "a", "service.name": "s" }, entries);
  });

  test("returns the oldest entries of the range first", async () => {
    const query = { ...range(1, 20_000), project_name: "a", direction: "forward" };
    assert.deepEqual(numbered(await own.logs(query)), ["15", "16", "17", "18", "19"]);
    assert.deepEqual(numbered(await own.logs({ ...query, limit: 2 })), ["15", "16"]);
    assert.deepEqual(numbered(await own.logs({ ...query, direction: "backward", limit: 2 })), ["19", "18"]);
    assert.deepEqual(numbered(await own.logs({ ...query, start: String(at(16 * 600) + 1n) })), ["17", "18", "19"]);
  });

  test("page by page gives each entry once, in the reverse order of reading backward", async () => {
    for (const filter of [{ project_name: "b" }, {}]) {
      const read = async (direction: string): Promise<string[]> => {
        const ids: string[] = [];
        for (let cursor: string | null | undefined = ""; cursor != null;) {
          const query = { ...range(0, 20_000), ...filter, direction, limit: 7, cursor, detail: true, ids: true };
          const answer = await own.logs(query);
          for (const { values } of answer.data.result) for (const [, , details] of values) ids.push(details!.id!);
          cursor = answer.next_cursor;
        }
        return ids;
      };
      const [forward, backward] = [await read("forward"), await read("backward")];
      assert.equal(new Set(forward).size, forward.length);
      assert.deepEqual(new Set(forward), new Set(backward));
      assert.equal(forward.length, "project_name" in filter ? 20 : 40);
      if ("project_name" in filter) assert.deepEqual(forward, backward.reverse());
    }
  });

  test("from the ID of an entry gives the entries around it, also if many have its nanosecond", async () => {
    const query = { ...range(0, 20_000), project_name: "a", detail: true, ids: true };
    const all = (await own.logs({ ...query, direction: "forward" })).data.result.flatMap(({ values }) => values);
    assert.equal(all.length, 20);
    const [, , details] = all[7]!;
    const around = async (direction: string): Promise<string[]> =>
      numbered(await own.logs({ ...query, direction, limit: 3, cursor: details!.id }));
    const lines = all.map(([, line]) => line);
    assert.deepEqual(await around("forward"), lines.slice(8, 11));
    assert.deepEqual(await around("backward"), lines.slice(4, 7).reverse());
  });

  test("returns no IDs unless they are requested", async () => {
    const query = { ...range(0, 1), project_name: "a", limit: 1, detail: true };
    assert.deepEqual(Object.keys((await own.logs(query)).data.result[0]!.values[0]![2]!), ["structuredMetadata"]);
  });
});

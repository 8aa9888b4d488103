/** Deletion of data, with the real server and its embedded store. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Deletion } from "../packages/server/src/api/deletions.ts";
import {
  baseUnixNano,
  conversation,
  createTenant,
  endUser,
  everyTalk,
  hourNanos,
  operate,
  promptCleanup,
  storeOf,
  type TalkName,
  tenantTables,
  type Tenant,
  untilDeletion,
} from "./support/deletion-tenants.ts";
import { serveProcess } from "./support/served-process.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";
import { beforeTests } from "./support/hooks.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

interface Case {
  readonly selection: object;
  /** What is left. */
  readonly kept: readonly TalkName[];
}

const cases = {
  "a conversation": { selection: { conversation_id: conversation }, kept: ["other", "aside"] },
  "a conversation in one project": {
    selection: { conversation_id: conversation, project_name: "side" },
    kept: ["one", "other", "aside"],
  },
  "an end user": { selection: { end_user_id: endUser }, kept: ["other", "aside"] },
  "a project": { selection: { project_name: "side" }, kept: ["one", "other"] },
  "a time range": {
    selection: { start: String(baseUnixNano - 2n * hourNanos), end: String(baseUnixNano) },
    kept: ["one", "other", "aside"],
  },
  "all telemetry": { selection: {}, kept: [] },
} satisfies Record<string, Case>;
type CaseName = keyof typeof cases;

describe("deleting data", { timeout: 400_000 }, () => {
  let server: RunningServer;
  let store: ReturnType<typeof storeOf>;
  beforeTests(async (stack) => {
    server = stack.use(
      await startServer("telemetry: { sweep_delay_ms: 1000 }", { telemetry: true, engineConfiguration: promptCleanup }),
    );
    await untilTelemetryReady(server);
    store = stack.use(storeOf(server));
  });

  /** Rows by table, those that queries no longer return included. */
  async function stored(organizationId: string): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const table of tenantTables) {
      const rows = `SELECT count() FROM ${table} WHERE organization = '${organizationId}' SETTINGS apply_deleted_mask = 0`;
      counts[table] = Number(await store.ask(rows));
    }
    return counts;
  }

  const done = (id: string): Promise<Deletion> => untilDeletion(server, id, ({ status }) => status === "done");

  test("leaves answers as if the data had never been there, in every query API, for its own organization only", async () => {
    const neighbor = await createTenant(server, "neighbor", everyTalk);
    const tenants = new Map<CaseName, Tenant>();
    const others = new Map<CaseName, Tenant>();
    for (const [name, { kept }] of Object.entries(cases) as [CaseName, Case][]) {
      tenants.set(name, await createTenant(server, `${name} deleted`, everyTalk));
      others.set(name, await createTenant(server, `${name} never sent`, kept));
    }
    const neighborsAnswers = await neighbor.answers();

    const receipts = new Map<CaseName, Deletion>();
    for (const [name, { selection }] of Object.entries(cases) as [CaseName, Case][]) {
      const tenant = tenants.get(name)!;
      const answers = await others.get(name)!.answers();
      assert.notDeepEqual(answers, neighborsAnswers);
      const request = { organization_id: tenant.id, ...selection };
      const preview = await operate(server, "POST", "/deletions", { ...request, dry_run: true });
      assert.deepEqual([preview.status, preview.body.status, preview.body.id], [200, "dry_run", null]);
      const { body, status } = await operate(server, "POST", "/deletions", request);
      assert.equal(status, 202);
      const hidden = await untilDeletion(server, body.id, ({ hidden_at }) => hidden_at !== null);
      assert.deepEqual(hidden.rows, preview.body.rows, name);
      assert.deepEqual(await tenant.answers(), answers, name);
      receipts.set(name, hidden);
    }
    for (const [name, { id, rows }] of receipts) {
      const receipt = await done(id!);
      assert.ok(receipt.created_at <= receipt.started_at! && receipt.hidden_at! <= receipt.erased_at!);
      assert.deepEqual(receipt.rows, rows);
      receipts.set(name, receipt);
    }
    assert.deepEqual(await neighbor.answers(), neighborsAnswers);

    const { conversation_sha256, rows } = receipts.get("a conversation")!;
    assert.equal(conversation_sha256, sha256(conversation));
    assert.deepEqual(rows, {
      spans: 6,
      span_details: 6,
      logs: 4,
      series: 4,
      points: 2,
      distribution_points: 2,
      exemplars: 0,
    });
    assert.equal(receipts.get("an end user")!.end_user_sha256, sha256(endUser));
    await requireUnwritten(server.dataDirectory, [endUser, conversation]);
    const { row_touches: _touches, rollup_hours: _hours, ...left } = await stored(tenants.get("all telemetry")!.id);
    assert.deepEqual([...new Set(Object.values(left))], [0]);
  });

  test("leaves no sums that include deleted rows", async () => {
    await using summing = await startServer("telemetry: { rollup_delay_ms: 500, sweep_delay_ms: 1000 }", {
      telemetry: true,
    });
    await untilTelemetryReady(summing);
    await using itsStore = storeOf(summing);
    const stale = `SELECT count() FROM
      (SELECT organization, source, hour, max(touched_unix_nano) AS touched FROM row_touches GROUP BY ALL) AS written
      LEFT JOIN (SELECT organization, source, hour, max(touched_unix_nano) AS included FROM rollup_hours GROUP BY ALL) AS summed
      USING (organization, source, hour) WHERE touched > included AND hour + toIntervalHour(1) <= now()`;
    const untilSummed = async (): Promise<void> => {
      while ((await itsStore.ask(stale)) !== "0") await new Promise((resolve) => setTimeout(resolve, 200));
    };
    const tenant = await createTenant(summing, "acme", ["one", "other"]);
    const never = await createTenant(summing, "never", ["other"]);
    await untilSummed();
    const expected = await never.answers();
    assert.notDeepEqual(await tenant.answers(), expected);
    const { body } = await operate(summing, "POST", "/deletions", {
      organization_id: tenant.id,
      conversation_id: conversation,
    });
    await untilDeletion(summing, body.id, ({ hidden_at }) => hidden_at !== null);
    const sums = `SELECT count() FROM span_minutes WHERE organization = '${tenant.id}' AND service = 'app-a'`;
    assert.equal(await itsStore.ask(sums), "0");
    assert.deepEqual(await tenant.answers(), expected);
    await untilSummed();
    assert.equal(await itsStore.ask(sums), "0");
    assert.deepEqual(await tenant.answers(), expected);
  });

  test("deletes an organization and a project with their keys", async () => {
    const tenant = await createTenant(server, "leaving", everyTalk);
    const { body: project } = await operate(server, "POST", "/projects", { organization_id: tenant.id, name: "side" });
    const bound = { organization_id: tenant.id, project_id: project.id, name: "bound" };
    const { body: key } = await operate(server, "POST", "/keys", bound);
    const isRefused = async (secret: string): Promise<boolean> =>
      (await server.call("/v1/models", undefined, { authorization: `Bearer ${secret}` })).status === 401;

    assert.equal(await isRefused(key.secret), false);
    const first = await operate(server, "DELETE", `/projects/${project.id}`);
    assert.deepEqual([first.status, first.body.kind, first.body.project_name], [202, "project", "side"]);
    assert.equal(await isRefused(key.secret), true);
    assert.equal(await isRefused(tenant.key), false);
    await done(first.body.id);
    assert.equal((await operate(server, "GET", `/projects/${project.id}`)).status, 404);
    assert.equal(
      await store.ask(`SELECT count() FROM spans WHERE organization = '${tenant.id}' AND project = 'side'`),
      "0",
    );
    assert.equal(await store.ask(`SELECT count() FROM spans WHERE organization = '${tenant.id}'`), "6");

    const second = await operate(server, "DELETE", `/organizations/${tenant.id}`);
    assert.equal(second.status, 202);
    assert.equal(await isRefused(tenant.key), true);
    await done(second.body.id);
    assert.equal((await operate(server, "GET", `/organizations/${tenant.id}`)).status, 404);
    assert.deepEqual([...new Set(Object.values(await stored(tenant.id)))], [0]);
    const { body: list } = await operate(server, "GET", "/deletions?limit=100");
    assert.deepEqual(
      list.data.filter((each: Deletion) => each.organization_id === tenant.id).map(({ kind }: Deletion) => kind),
      ["project", "organization"],
    );
    const { body: last } = await operate(server, "GET", "/organizations?name=default");
    assert.equal((await operate(server, "DELETE", `/organizations/${last.data[0].id}`)).status, 409);
  });

  test("a shorter retention applies to existing data, a longer one does not", async () => {
    const tenant = await createTenant(server, "thrifty", []);
    const { body: project } = await operate(server, "POST", "/projects", { organization_id: tenant.id, name: "side" });
    const sent = await createTenant(server, "thrifty", everyTalk, tenant);
    const never = await createTenant(server, "as thrifty", ["one", "again", "other"]);
    const retain = (days: number) =>
      operate(server, "PATCH", `/projects/${project.id}`, { settings: { retention_days: days } });
    const listed = async () =>
      (await operate(server, "GET", `/deletions?organization_id=${tenant.id}`)).body.data as Deletion[];
    await retain(60);
    assert.deepEqual(await listed(), []);
    await retain(1);
    const [deletion] = await listed();
    assert.deepEqual([deletion!.kind, deletion!.retention_days, deletion!.project_name], ["retention", 1, "side"]);
    const hidden = await untilDeletion(server, deletion!.id!, ({ hidden_at }) => hidden_at !== null);
    assert.equal(hidden.rows.spans, 3);
    assert.deepEqual(await sent.answers(), await never.answers());
    const days = "SELECT DISTINCT project, days FROM spans";
    assert.equal(
      await store.ask(`${days} WHERE organization = '${tenant.id}' ORDER BY project`),
      "default\t30\nside\t1",
    );
  });

  test("is only for those who may, and refuses what selects nothing", async () => {
    const own = await createTenant(server, "own", []);
    const other = await createTenant(server, "foreign", []);
    const admin = async (organization_id: string): Promise<string> =>
      (await operate(server, "POST", "/keys", { organization_id, name: "admin", permissions: ["admin"] })).body.secret;
    const key = await admin(own.id);
    const refusal = async (method: string, path: string, body?: unknown, secret = key) => {
      const answer = await operate(server, method, path, body, secret);
      return [answer.status, answer.body.error?.param ?? null];
    };
    const select = (selection: object) => refusal("POST", "/deletions", { organization_id: own.id, ...selection });
    assert.deepEqual(await refusal("POST", "/deletions", { organization_id: own.id }, own.key), [403, null]);
    assert.deepEqual(await refusal("POST", "/deletions", { organization_id: other.id }), [403, "organization_id"]);
    assert.deepEqual(await refusal("POST", "/deletions", {}), [400, "organization_id"]);
    assert.deepEqual(await select({ start: "2026-01-02T00:00:00Z", end: "2026-01-01T00:00:00Z" }), [400, "start"]);
    assert.deepEqual(await select({ start: "yesterday" }), [400, "start"]);
    assert.deepEqual(await select({ project_name: "misspelt" }), [404, "project_name"]);
    assert.deepEqual(await select({ conversation_id: "a", end_user_id: "b" }), [400, "end_user_id"]);
    assert.deepEqual(await select({ conversation_id: "" }), [400, "conversation_id"]);
    assert.deepEqual(await refusal("DELETE", `/organizations/${own.id}`), [403, null]);
    assert.deepEqual(await refusal("DELETE", `/organizations/${other.id}`), [404, null]);

    const { body: foreign } = await operate(server, "POST", "/deletions", { organization_id: other.id });
    assert.deepEqual(await refusal("GET", `/deletions/${foreign.id}`), [404, null]);
    const { body: deletion, status } = await operate(server, "POST", "/deletions", { organization_id: own.id }, key);
    assert.equal(status, 202);
    const { body: list } = await operate(server, "GET", "/deletions", undefined, key);
    assert.deepEqual(
      list.data.map(({ id }: Deletion) => id),
      [deletion.id],
    );
  });
});

test("a deletion continues after the server was killed", { timeout: 300_000 }, async () => {
  const operatorKey = `sk-${"k".repeat(40)}`;
  const env = { SOUNDING_ADMIN_KEY: operatorKey };
  const first = await serveProcess(env);
  const { dataDirectory } = first;
  const access = (url: string): RunningServer => ({ url, operatorKey, dataDirectory }) as unknown as RunningServer;
  await untilTelemetryReady(first);
  const tenant = await createTenant(access(first.url), "acme", everyTalk);
  const request = { organization_id: tenant.id, end_user_id: endUser };
  const { body } = await operate(access(first.url), "POST", "/deletions", request);
  await untilDeletion(access(first.url), body.id, ({ started_at }) => started_at !== null);
  await first.end("SIGKILL");
  await using second = await serveProcess(env, { data: dataDirectory });
  await untilDeletion(access(second.url), body.id, ({ hidden_at }) => hidden_at !== null);
  await using store = storeOf({ dataDirectory });
  const left = await store.ask(
    `SELECT DISTINCT service FROM spans WHERE organization = '${tenant.id}' ORDER BY service`,
  );
  assert.equal(left, "app-c\napp-d");
});

/** Control database, journal and mutations are not compressed. */
async function requireUnwritten(directory: string, texts: readonly string[]): Promise<void> {
  const files = (await readdir(directory, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  assert.ok(
    files.some(({ name }) => name.startsWith("mutation_")) && files.some(({ name }) => name === "control.sqlite"),
  );
  for (const { name, parentPath } of files) {
    if (!name.startsWith("mutation_") && !name.startsWith("control.sqlite")) continue;
    const bytes = await readFile(join(parentPath, name)).catch(() => Buffer.alloc(0));
    for (const text of texts) assert.ok(!bytes.includes(text), `${name} contains ${text}`);
  }
}

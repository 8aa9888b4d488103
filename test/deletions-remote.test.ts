/** Deletion of data with PostgreSQL and a ClickHouse server: the same receipts and answers as with the embedded databases. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createConnection } from "../packages/server/src/store/connection.ts";
import { remotePassword, startRemoteServer } from "../packages/server/test/store/remote-server.ts";
import { startPostgres } from "../packages/server/test/tenancy/postgres-server.ts";
import {
  conversation,
  createTenant,
  endUser,
  everyTalk,
  operate,
  promptCleanup,
  tenantTables,
  untilDeletion,
} from "./support/deletion-tenants.ts";
import { startServer, untilTelemetryReady } from "./support/running-server.ts";
import { needs } from "./support/needs.ts";

test(
  "PostgreSQL and ClickHouse lose a conversation, an end user, a project and an organization as the embedded stores do",
  { skip: needs("postgresql"), timeout: 400_000 },
  async (context) => {
    const postgres = await startPostgres();
    context.after(() => postgres[Symbol.asyncDispose]());
    await using clickhouse = await startRemoteServer({ configuration: () => promptCleanup });
    const settings = {
      storage: { database_url: await postgres.newDatabase() },
      telemetry: { sweep_delay_ms: 1000, clickhouse: { url: clickhouse.url, password: remotePassword } },
    };
    // JSON is YAML.
    await using server = await startServer(JSON.stringify(settings), { telemetry: true });
    await untilTelemetryReady(server);
    const connection = createConnection({
      url: clickhouse.url,
      database: "default",
      user: "default",
      password: remotePassword,
      compression: false,
      maximumConnections: 1,
    });
    context.after(() => connection.close());
    const stored = async (organizationId: string): Promise<number> => {
      const counts = tenantTables.map(
        (table) => `(SELECT count() FROM ${table} WHERE organization = '${organizationId}')`,
      );
      const text = `SELECT ${counts.join(" + ")} SETTINGS apply_deleted_mask = 0 FORMAT TSV`;
      return Number(await connection.command(text, AbortSignal.timeout(60_000)));
    };
    const done = (id: string) => untilDeletion(server, id, ({ status }) => status === "done");

    const neighbor = await createTenant(server, "neighbor", everyTalk);
    const neighborsAnswers = await neighbor.answers();
    const never = await createTenant(server, "never sent", ["other", "aside"]);
    const answers = await never.answers();
    const erasures: (() => Promise<void>)[] = [];
    for (const selection of [{ conversation_id: conversation }, { end_user_id: endUser }]) {
      const tenant = await createTenant(server, Object.keys(selection).join(), everyTalk);
      const request = { organization_id: tenant.id, ...selection };
      const preview = await operate(server, "POST", "/deletions", { ...request, dry_run: true });
      assert.equal(preview.status, 200, JSON.stringify(preview.body));
      const { body, status } = await operate(server, "POST", "/deletions", request);
      assert.equal(status, 202);
      const hidden = await untilDeletion(server, body.id, ({ hidden_at }) => hidden_at !== null);
      assert.deepEqual(await tenant.answers(), answers);
      assert.ok(hidden.rows.spans! > 0);
      erasures.push(async () => assert.deepEqual((await done(body.id)).rows, preview.body.rows));
    }
    // ClickHouse takes seconds to remove the files of each deletion.
    for (const erased of erasures) await erased();

    const { body: project } = await operate(server, "POST", "/projects", {
      organization_id: never.id,
      name: "side",
    });
    const ofProject = await operate(server, "DELETE", `/projects/${project.id}`);
    assert.equal(ofProject.status, 202, JSON.stringify(ofProject.body));
    assert.equal((await done(ofProject.body.id)).rows.spans, 3);
    assert.equal((await operate(server, "GET", `/projects/${project.id}`)).status, 404);

    assert.notEqual(await stored(never.id), 0);
    const ofOrganization = await operate(server, "DELETE", `/organizations/${never.id}`);
    assert.equal(ofOrganization.status, 202, JSON.stringify(ofOrganization.body));
    assert.equal((await done(ofOrganization.body.id)).rows.spans, 3);
    assert.equal((await operate(server, "GET", `/organizations/${never.id}`)).status, 404);
    assert.equal(await stored(never.id), 0);
    assert.deepEqual(await neighbor.answers(), neighborsAnswers);
  },
);

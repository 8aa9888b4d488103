/** The audit log of a real server: what it records of all parts, and its export as log records of an organization. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { test } from "node:test";
import { beforeTests } from "./support/hooks.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";

let server: RunningServer;
beforeTests(async (stack) => {
  const audit = "audit: { export: { organization: security, project: trail } }";
  server = stack.use(await startServer(`${audit}\ntelemetry: { sweep_delay_ms: 1 }`, { telemetry: true }));
  await untilTelemetryReady(server);
});

async function administer<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(`${server.url}/admin/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${server.operatorKey}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await response.json()) as Answer;
}

interface Listed {
  readonly data: readonly { id: string; action: string; sequence: number; target: { id: string | null } }[];
}

/** A statement on the control database, next to the server. */
function onDatabase(statement: string): Record<string, unknown> | undefined {
  const database = new DatabaseSync(join(server.dataDirectory, "control.sqlite"), { timeout: 5000 });
  try {
    return database.prepare(statement).get();
  } finally {
    database.close();
  }
}

/** Waits until everything that is written is exported. */
async function untilExported(): Promise<void> {
  const statement = "select audit_export.sequence = audit_head.sequence as done from audit_export, audit_head";
  while (onDatabase(statement)?.["done"] !== 1) await delay(50);
}

/** Without the entries of these queries, which are read as well. */
async function exported(key: string, pipeline = ""): Promise<{ line: string; labels: Record<string, string> }[]> {
  const query = new URLSearchParams({
    query: `{service_name="sounding"} | sounding_audit_action!="lokiQueryRange" ${pipeline}`,
    limit: "1000",
  });
  const response = await fetch(`${server.url}/loki/api/v1/query_range?${query.toString()}`, {
    headers: { authorization: `Bearer ${key}`, "x-project": "trail" },
  });
  const { data } = (await response.json()) as {
    data: { result: { stream: Record<string, string>; values: [string, string][] }[] };
  };
  return data.result.flatMap(({ stream, values }) => values.map(([, line]) => ({ line, labels: stream })));
}

test("entries become log records of the chosen organization, each once, also if they are exported again", async () => {
  await administer("POST", "organizations", { name: "acme" });
  await administer("POST", "organizations", { name: "security" });
  const { secret } = await administer<{ secret: string }>("POST", "keys", {
    organization_id: "security",
    name: "auditor",
    permissions: ["telemetry_read"],
  });
  assert.equal((await server.call("/admin/v1/keys")).status, 403);
  await server.call("/observability/logs", { project_name: "support" });
  await untilExported();
  const { data } = await administer<Listed>("GET", "audit?limit=100");
  assert.deepEqual(
    data.map(({ action }) => action),
    ["createFirstKeys", "createOrganization", "createOrganization", "createKey", "listKeys", "queryLogs"],
  );
  const records = await exported(secret);
  assert.equal(records.length, data.length);
  const lines = new Set(records.map(({ line }) => line));
  assert.ok(lines.has("key operator: createOrganization organization acme: done"));
  assert.ok(lines.has("key first key: queryLogs project support: done"));
  const [refused, ...others] = await exported(secret, '| sounding_audit_outcome="refused"');
  assert.deepEqual(others, []);
  assert.equal(refused!.line, "key first key: listKeys key: refused (permission_denied)");
  assert.equal(refused!.labels["detected_level"] ?? refused!.labels["level"], "warn");

  // The position was not saved before a crash.
  onDatabase("update audit_export set sequence = 2 returning sequence");
  await untilExported();
  assert.equal((await exported(secret)).length, data.length);
  // Other organizations see none of it.
  assert.deepEqual(await exported(server.key), []);
});

test("deleting an organization with its telemetry leaves its entries", async () => {
  const { id } = await administer<{ id: string }>("POST", "organizations", { name: "gone" });
  const deletion = await administer<{ id: string }>("DELETE", `organizations/${id}`);
  const state = async () => (await administer<{ status: string }>("GET", `deletions/${deletion.id}`)).status;
  while ((await state()) !== "done") await delay(100);
  const { data } = await administer<Listed>("GET", `audit?organization_id=${id}`);
  assert.deepEqual(
    data.map(({ action, target }) => [action, target.id]),
    [
      ["createOrganization", id],
      ["deleteOrganization", id],
    ],
  );
  const { valid } = await administer<{ valid: boolean }>("GET", "audit/verification");
  assert.equal(valid, true);
});

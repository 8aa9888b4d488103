/** /readyz names the problem: a full disk, a read-only control database, damaged telemetry. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { test } from "node:test";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";

interface Readiness {
  readonly status: string;
  readonly checks: Record<string, string>;
}

async function readiness(server: RunningServer): Promise<Readiness & { readonly code: number }> {
  const answer = await server.call("/readyz");
  return { code: answer.status, ...((await answer.json()) as Readiness) };
}

test("a healthy server is ok, with every check named", async () => {
  await using server = await startServer("", { telemetry: true });
  await untilTelemetryReady(server);
  assert.deepEqual(await readiness(server), {
    code: 200,
    status: "ok",
    checks: {
      control_database: "ok",
      control_database_writes: "ok",
      data_disk: "ok",
      telemetry_store: "ok",
      telemetry_data: "ok",
    },
  });
  const metrics = await (await server.call("/metrics")).text();
  assert.match(metrics, /^sounding_data_disk_free_bytes [1-9]/m);
  assert.match(metrics, /^sounding_check_ok\{check="data_disk"\} 1$/m);
});

/** More than any disk has. */
const everything = 2 ** 52;

test("a disk below the warning is degraded, and everything works", async () => {
  await using server = await startServer(`storage: { warning_free_bytes: ${everything} }`, { telemetry: true });
  await untilTelemetryReady(server);
  const { code, status, checks } = await readiness(server);
  assert.deepEqual([code, status], [200, "degraded"]);
  assert.match(checks["data_disk"]!, /^\d+ MiB are free on the disk of .*storage\.warning_free_bytes\.$/);
  assert.equal((await server.call("/v1/logs", '{"resourceLogs":[]}')).status, 200);
  assert.match(await (await server.call("/metrics")).text(), /^sounding_check_ok\{check="data_disk"\} 0$/m);
});

test("a disk below the minimum is degraded, telemetry is refused with 503, and the rest works", async () => {
  const yaml = `storage: { warning_free_bytes: ${everything}, minimum_free_bytes: ${everything} }`;
  await using server = await startServer(yaml, { telemetry: true });
  await untilTelemetryReady(server);
  const { code, status, checks } = await readiness(server);
  assert.deepEqual([code, status], [200, "degraded"]);
  assert.match(checks["data_disk"]!, /storage\.minimum_free_bytes; telemetry is refused/);
  const body = JSON.stringify({
    resourceLogs: [
      { scopeLogs: [{ logRecords: [{ timeUnixNano: `${Date.now()}000000`, body: { stringValue: "x" } }] }] },
    ],
  });
  const refused = await server.call("/v1/logs", body);
  assert.equal(refused.status, 503);
  assert.ok(Number(refused.headers.get("retry-after")) > 0);
  assert.match(await refused.text(), /disk is full/);
  assert.equal((await server.call("/observability/logs", {})).status, 200);
  assert.equal((await server.call("/v1/models")).status, 200);
});

test("a control database that cannot be written is degraded, and keys are still checked", async () => {
  await using server = await startServer();
  const other = new DatabaseSync(join(server.dataDirectory, "control.sqlite"));
  // Fails each write like a full disk, but no read.
  other.exec("create trigger full before insert on write_probe begin select raise(abort, 'no room'); end");
  other.close();
  const { code, status, checks } = await readiness(server);
  assert.deepEqual([code, status], [200, "degraded"]);
  assert.match(checks["control_database_writes"]!, /control database/);
  assert.equal(checks["control_database"], "ok");
  assert.equal((await server.call("/v1/models")).status, 200);
});

test("disabled telemetry is shown and does not degrade the server", async () => {
  await using server = await startServer();
  const { code, status, checks } = await readiness(server);
  assert.deepEqual([code, status], [200, "ok"]);
  assert.match(checks["telemetry_store"]!, /switched off/);
});

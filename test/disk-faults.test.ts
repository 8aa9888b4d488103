/** A server whose disk fills up, and whose disk becomes read-only: models can be called and telemetry queried, and it recovers. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startScriptedUpstream } from "../packages/server/test/support/scripted-upstream.ts";
import { answerEcho, chat, configurationFor, operatorKey, serveMember } from "./fleet/fleet.ts";
import { needs, onlyAsRoot, pathOf } from "./support/needs.ts";

const skip = onlyAsRoot() || needs("e2fsprogs");

test("a server whose disk is full, then read-only, then well again", { skip }, async () => {
  await using parts = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), "sounding-disk-"));
  parts.defer(() => rm(directory, { recursive: true, force: true }));
  const image = join(directory, "disk.img");
  const disk = join(directory, "disk");
  await mkdir(disk);
  const mount = (): void => void execFileSync("mount", ["-o", "loop", image, disk], { stdio: "ignore" });
  execFileSync("truncate", ["-s", "200M", image]);
  execFileSync(pathOf("mkfs.ext4")!, ["-q", image]);
  mount();
  parts.defer(() => void spawnSync("umount", ["-l", disk]));

  const upstream = parts.use(await startScriptedUpstream(answerEcho));
  const config = join(directory, "sounding.yaml");
  await writeFile(
    config,
    `${configurationFor(upstream.url)}storage: { warning_free_bytes: 40000000, minimum_free_bytes: 20000000 }
telemetry: { write_timeout_ms: 2000 }\n`,
  );
  const env = { SOUNDING_CONFIG: config, SOUNDING_ADMIN_KEY: operatorKey };
  const serve = () => serveMember({ data: join(disk, "data"), env });
  let server = parts.use(await serve());
  const key = server.firstKey!;
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };

  let sent = 0;
  let acknowledged = 0;
  const exportRecord = async (): Promise<Response> => {
    const logRecords = [{ timeUnixNano: `${Date.now()}000000`, body: { stringValue: `record ${(sent += 1)}` } }];
    const resource = { attributes: [{ key: "service.name", value: { stringValue: "disk" } }] };
    const body = JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] });
    const response = await fetch(`${server.url}/v1/logs`, { method: "POST", headers, body });
    if (response.ok) acknowledged += 1;
    return response;
  };
  const count = async (): Promise<number> => {
    const query = encodeURIComponent('sum(count_over_time({service_name="disk"}[1h]))');
    const response = await fetch(`${server.url}/loki/api/v1/query?query=${query}`, { headers });
    assert.equal(response.status, 200, await response.clone().text());
    const { data } = (await response.json()) as { data: { result: readonly { value: [number, string] }[] } };
    return Number(data.result[0]?.value[1] ?? 0);
  };
  const readiness = async () =>
    (await (await fetch(`${server.url}/readyz`)).json()) as { status: string; checks: Record<string, string> };
  const createKey = () =>
    fetch(`${server.url}/admin/v1/keys`, {
      method: "POST",
      headers: { ...headers, authorization: `Bearer ${operatorKey}` },
      body: '{"name":"x"}',
    });
  const until = async (holds: () => Promise<boolean>): Promise<void> => {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 50));
  };
  /** Calls and queries go on, and the exporter is told to retry. */
  async function expectRefused(): Promise<void> {
    const refused = await exportRecord();
    assert.equal(refused.status, 503, await refused.text());
    assert.ok(Number(refused.headers.get("retry-after")) > 0);
    assert.equal((await chat(server.url, key)).status, 200);
    assert.equal(await count(), acknowledged);
    assert.equal((await readiness()).status, "degraded");
  }

  assert.equal((await exportRecord()).status, 200);
  assert.equal(await count(), 1);

  await writeFile(join(disk, "filler"), Buffer.alloc(300_000_000)).catch(() => {});
  await until(async () => (await readiness()).checks["data_disk"] !== "ok");
  await expectRefused();
  assert.match((await readiness()).checks["data_disk"]!, /telemetry is refused/);
  await rm(join(disk, "filler"));
  await until(async () => (await exportRecord()).ok);
  await until(async () => (await readiness()).status === "ok");

  await until(async () => (await count()) === acknowledged);
  // What the kernel does with a disk that fails: https://www.kernel.org/doc/html/latest/admin-guide/ext4.html
  execFileSync("mount", ["-o", "remount,abort", disk]);
  await until(async () => (await readiness()).checks["control_database_writes"] !== "ok");
  await expectRefused();
  const denied = await createKey();
  assert.equal(denied.status, 503);
  assert.match(await denied.text(), /The disk of the control database cannot be read or written/);
  await server.end();

  execFileSync("umount", [disk]);
  // 1: it has repaired something.
  assert.ok(spawnSync(pathOf("e2fsck")!, ["-p", "-f", image]).status! <= 1);
  mount();
  server = parts.use(await serve());
  await until(async () => (await exportRecord()).ok);
  assert.equal((await createKey()).status, 201);
  await until(async () => (await count()) === acknowledged);
  assert.equal(await server.end(), 0, server.log());
});

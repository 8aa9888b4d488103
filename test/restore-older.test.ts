/** Backups of older versions: rows without columns that were added since get their defaults. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createConnection } from "../packages/server/src/store/connection.ts";
import { telemetryPath } from "../packages/server/src/maintenance/manifest.ts";
import { startEngineProcess } from "../packages/server/src/store/embedded/engine-process.ts";
import { endMs, serveInstallation } from "./support/installation.ts";
import { otlpSender } from "./support/otlp-sender.ts";
import { runSounding } from "../packages/cli/test/run-sounding.ts";
import { childEnvironment } from "./support/child-environment.ts";

const folder = await mkdtemp(join(tmpdir(), "sounding-older-"));
after(() => rm(folder, { recursive: true, force: true }));

interface TelemetryFile {
  readonly table: string;
  readonly day: string | null;
  bytes: number;
  sha256: string;
}

interface Manifest {
  control: { migrations: string[] };
  telemetry: { schema_version: number; columns: Record<string, string[]>; files: TelemetryFile[] };
}

const environment = (name: string): Record<string, string> => ({
  ...childEnvironment,
  SOUNDING_INSTALL: "false",
  SOUNDING_DATA_DIR: join(folder, name),
});

async function succeeds(words: readonly string[], name: string): Promise<void> {
  const { code, stderr } = await runSounding(words, { env: environment(name) });
  assert.equal(code, 0, stderr);
}

/** The only log record. */
async function findRecord(url: string, key: string): Promise<Record<string, unknown>> {
  const response = await fetch(`${url}/observability/export`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ signal: "logs" }),
  });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  const { resourceLogs } = JSON.parse(text) as {
    resourceLogs: { scopeLogs: { logRecords: Record<string, unknown>[] }[] }[];
  };
  return resourceLogs[0]!.scopeLogs[0]!.logRecords[0]!;
}

/** Writes the files of a table again, without a column. */
async function dropColumn(backup: string, table: string, column: string): Promise<void> {
  const spoolDirectory = join(folder, "spool");
  const socketPath = join(folder, "engine.sock");
  const engine = await startEngineProcess({
    dataDirectory: join(folder, "engine"),
    spoolDirectory,
    socketPath,
    memoryBytes: 1_000_000_000,
  });
  const connection = createConnection({
    url: "http://localhost",
    socketPath,
    database: "default",
    compression: false,
    spoolDirectory,
    maximumConnections: 1,
  });
  try {
    const path = join(backup, "manifest.json");
    const manifest = JSON.parse(await readFile(path, "utf8")) as Manifest;
    const { telemetry } = manifest;
    for (const file of telemetry.files.filter((each) => each.table === table)) {
      const stored = join(backup, telemetryPath(file));
      const [old, shorter] = [join(spoolDirectory, "old"), join(spoolDirectory, "shorter")];
      await copyFile(stored, old);
      const names = telemetry.columns[table]!.filter((name) => name !== column).join(", ");
      await connection.command(
        `INSERT INTO FUNCTION file('${shorter}', 'Native', 'auto', 'zstd') SELECT ${names} FROM file('${old}', 'Native', 'auto', 'zstd') SETTINGS engine_file_truncate_on_insert = 1`,
        AbortSignal.timeout(120_000),
      );
      const content = await readFile(shorter);
      await writeFile(stored, content);
      file.bytes = content.length;
      file.sha256 = createHash("sha256").update(content).digest("hex");
    }
    telemetry.columns[table] = telemetry.columns[table]!.filter((name) => name !== column);
    telemetry.schema_version -= 1;
    // The last migration adds a table that is not in backups.
    manifest.control.migrations.pop();
    await writeFile(path, JSON.stringify(manifest));
  } finally {
    await connection.close();
    await engine.stop();
  }
}

test("a backup without a column that was added since is restored with the column's default", async () => {
  const backup = join(folder, "backup");
  let key: string;
  {
    await using server = await serveInstallation(environment("first"));
    ({ key } = server.firstStart!);
    const sender = otlpSender(server.url, key);
    const record = { unixNano: BigInt(endMs) * 1_000_000n, body: "paid", more: { severityText: "Notice" } };
    await sender.logs({ "service.name": "shop" }, [record]);
    const { severityText, body } = await findRecord(server.url, key);
    assert.deepEqual({ severityText, body }, { severityText: "Notice", body: { stringValue: "paid" } });
  }
  await succeeds(["backup", backup], "first");
  await dropColumn(backup, "logs", "severity_text");
  await succeeds(["restore", backup, "--check"], "second");
  await succeeds(["restore", backup], "second");
  await using restored = await serveInstallation(environment("second"));
  const { severityText, body } = await findRecord(restored.url, key);
  assert.deepEqual({ severityText: severityText ?? "", body }, { severityText: "", body: { stringValue: "paid" } });
});

/** Backups: every query and list answers the same before and after, on each kind of database; interrupted and damaged ones. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { appendFile, cp, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Collected, runInProcess, runSounding } from "../packages/cli/test/run-sounding.ts";
import { claimFolder } from "../packages/server/src/store/transfer/claimed-folder.ts";
import { remotePassword, startRemoteServer } from "../packages/server/test/store/remote-server.ts";
import { startPostgres } from "../packages/server/test/tenancy/postgres-server.ts";
import { otlpSender } from "./support/otlp-sender.ts";
import {
  administer,
  allAnswers,
  allObjects,
  endMs,
  sendAllTelemetry,
  serveInstallation,
  type ServedInstallation,
} from "./support/installation.ts";
import { beforeTests } from "./support/hooks.ts";
import { needs } from "./support/needs.ts";
import { childEnvironment } from "./support/child-environment.ts";

const folder = await mkdtemp(join(tmpdir(), "sounding-backup-"));
const configFile = join(folder, "sounding.yaml");
await writeFile(configFile, "server: { log_level: warn }\n");
const backup = join(folder, "backup");
after(() => rm(folder, { recursive: true, force: true }));

type Environment = Record<string, string>;
const environment = (name: string): Environment => ({
  ...childEnvironment,
  SOUNDING_INSTALL: "false",
  SOUNDING_CONFIG: configFile,
  SOUNDING_DATA_DIR: join(folder, name),
});

async function succeeds(words: readonly string[], env: Environment): Promise<string> {
  const { code, stderr, stdout } = await runSounding(words, { env });
  assert.equal(code, 0, `${words.join(" ")}: ${stderr}`);
  return stdout;
}

interface Before {
  readonly operatorKey: string;
  /** Of the organizations: the first one, and acme. */
  readonly keys: readonly [string, string];
  readonly acme: string;
  readonly answers: readonly [Map<string, unknown>, Map<string, unknown>];
  readonly objects: unknown;
  /** Log records of a third organization that were acknowledged before the backup began. */
  readonly acknowledged: number;
  readonly busyKey: string;
}

let known: Before;

async function newOrganization(url: string, operatorKey: string, name: string): Promise<{ id: string; key: string }> {
  const { id } = await administer<{ id: string }>(url, operatorKey, "/organizations", { name });
  const key = { organization_id: id, name: "key" };
  const { secret } = await administer<{ secret: string }>(url, operatorKey, "/keys", key);
  return { id, key: secret };
}

async function countLogs(url: string, key: string): Promise<number> {
  const search = new URLSearchParams({
    query: 'sum(count_over_time({service_name="busy"}[24h]))',
    time: String(Math.ceil(Date.now() / 1000) + 60),
  });
  const response = await fetch(`${url}/loki/api/v1/query?${search.toString()}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const { data } = (await response.json()) as { data: { result: { value: [number, string] }[] } };
  return Number(data.result[0]?.value[1] ?? 0);
}

beforeTests(async () => {
  await using server = await serveInstallation(environment("first"), configFile);
  const { url } = server;
  const { key, operatorKey = "" } = server.firstStart!;
  const acme = await newOrganization(url, operatorKey, "acme");
  await administer(url, operatorKey, "/alert_groups", {
    organization_id: acme.id,
    name: "errors",
    rules: [{ alert: "Errors", expr: 'sum(rate({service_name="shop"}[5m])) > 1', for: "5m" }],
  }).catch(async () => {});
  await sendAllTelemetry(url, key, 1);
  await sendAllTelemetry(url, acme.key, 2);
  const busy = await newOrganization(url, operatorKey, "busy");
  const sender = otlpSender(url, busy.key);
  const answers = [await allAnswers(url, key), await allAnswers(url, acme.key)] as const;
  const objects = await allObjects(url, operatorKey);
  // The third organization sends without a pause until the backup is complete.
  const stop = new AbortController();
  let sent = 0;
  const isBusy = Promise.withResolvers<void>();
  const sending = (async () => {
    while (!stop.signal.aborted) {
      const unixNano = BigInt(endMs) * 1_000_000n + BigInt(sent);
      await sender.logs({ "service.name": "busy" }, [{ unixNano, body: `record ${sent}` }]);
      sent += 1;
      if (sent === 20) isBusy.resolve();
    }
  })();
  await Promise.race([isBusy.promise, sending]);
  const acknowledged = sent;
  const outcome = await runSounding(["backup", backup, "--json"], { env: environment("first") });
  stop.abort();
  await sending;
  assert.equal(outcome.code, 0, outcome.stderr);
  known = {
    operatorKey,
    keys: [key, acme.key],
    acme: acme.id,
    answers,
    objects,
    acknowledged,
    busyKey: busy.key,
  };
});

/** Compares one answer after the other, so that a failure shows a single one. */
async function assertSameAnswers(server: ServedInstallation, index: 0 | 1): Promise<void> {
  const now = await allAnswers(server.url, known.keys[index]);
  for (const [name, answer] of known.answers[index]) {
    assert.equal((answer as { status: number }).status, 200, `${name}: ${JSON.stringify(answer)}`);
    assert.deepEqual(now.get(name), answer, name);
  }
}

async function assertWholeInstallation(server: ServedInstallation): Promise<void> {
  assert.equal(server.firstStart, undefined);
  await assertSameAnswers(server, 0);
  await assertSameAnswers(server, 1);
  assert.deepEqual(await allObjects(server.url, known.operatorKey), known.objects);
  const found = await countLogs(server.url, known.busyKey);
  assert.ok(found >= known.acknowledged, `${found} of ${known.acknowledged} acknowledged records were restored`);
}

describe("a backup of a whole installation", { timeout: 300_000 }, () => {
  test("is complete, private, and has the configuration", async () => {
    assert.match(await succeeds(["restore", backup, "--check"], {}), /is a complete backup of a whole installation/);
    assert.equal(
      await readFile(join(backup, "configuration/sounding.yaml"), "utf8"),
      await readFile(configFile, "utf8"),
    );
    const files = await readdir(backup, { recursive: true, withFileTypes: true });
    for (const entry of files) {
      const { mode } = await stat(join(entry.parentPath, entry.name));
      assert.equal(mode & 0o077, 0, entry.name);
    }
    const control = await readFile(join(backup, "control.jsonl"), "utf8");
    for (const secret of [known.operatorKey, ...known.keys]) assert.ok(!control.includes(secret));
    // The engine's files are removed.
    assert.deepEqual(await readdir(join(folder, "first/telemetry/spool")), []);
  });

  test("restores every answer, although the restore was killed", async () => {
    const env = environment("second");
    const checkpoint = join(folder, "second/restore.json");
    const killed = await runSounding(["restore", backup], {
      env,
      during: (child) => {
        void (async () => {
          // Some files are in the store, others are not.
          while (child.exitCode === null && child.signalCode === null) {
            const done = await readFile(checkpoint, "utf8").catch(() => "");
            if (done.includes("native.zst")) return child.kill("SIGKILL");
            await sleep(1);
          }
          return false;
        })();
      },
    });
    assert.equal(killed.code, null, killed.stderr);
    assert.ok(existsSync(checkpoint));
    await assert.rejects(serveInstallation(env, configFile), /has no organizations/);
    assert.match(await succeeds(["restore", backup], env), /Restored the installation from the backup of/);
    assert.ok(!existsSync(checkpoint));
    await using server = await serveInstallation(env, configFile);
    await assertWholeInstallation(server);
    const again = await runSounding(["restore", backup], { env });
    assert.match(again.stderr, /A server runs on the data directory .*Stop it to restore a whole installation/);
  });

  test("that is cancelled leaves an empty folder and no file in the spool", async () => {
    const cancelled = join(folder, "cancelled");
    const stop = new AbortController();
    // The first line about progress comes before the first file.
    const stderr = new Collected();
    stderr.once("written", () => stop.abort());
    const env = environment("second");
    const { code } = await runInProcess(["backup", cancelled], { env, stderr, signal: stop.signal });
    assert.equal(code, 130);
    assert.deepEqual(await readdir(cancelled), []);
    assert.deepEqual(await readdir(join(folder, "second/telemetry/spool")), []);
  });

  test("that is killed leaves files in the spool until the next one, which keeps those of commands that run", async () => {
    const env = environment("second");
    await using _server = await serveInstallation(env, configFile);
    const spool = join(folder, "second/telemetry/spool");
    const claims = async (): Promise<string[]> =>
      (await readdir(spool)).filter((name) => /^transfer-.*(?<!\.new)$/.test(name));
    const killed = await runSounding(["backup", join(folder, "killed")], {
      env,
      during: (child) => {
        void (async () => {
          while (child.exitCode === null && child.signalCode === null) {
            if ((await claims()).length === 2) return child.kill("SIGKILL");
            await sleep(1);
          }
          return false;
        })();
      },
    });
    assert.equal(killed.code, null, killed.stderr);
    assert.equal((await claims()).length, 2);
    await using running = await claimFolder(spool);
    await succeeds(["backup", join(folder, "after-killed")], env);
    assert.deepEqual((await claims()).map((name) => join(spool, name)).toSorted(), [
      running.path,
      `${running.path}.lock`,
    ]);
  });

  test("is not restored over an installation in use", async () => {
    const { code, stderr } = await runSounding(["restore", backup], { env: environment("second") });
    assert.equal(code, 1);
    assert.match(stderr, /The control database has organizations already/);
  });

  test("restores into PostgreSQL and ClickHouse, and back", { skip: needs("postgresql") }, async (context) => {
    const postgres = await startPostgres();
    context.after(() => postgres[Symbol.asyncDispose]());
    await using clickhouse = await startRemoteServer();
    const env: Environment = {
      ...environment("third"),
      DATABASE_URL: await postgres.newDatabase(),
      SOUNDING_CLICKHOUSE_URL: clickhouse.url,
      SOUNDING_CLICKHOUSE_PASSWORD: remotePassword,
    };
    await succeeds(["restore", backup], env);
    const second = join(folder, "from-remote");
    {
      await using server = await serveInstallation(env, configFile);
      await assertWholeInstallation(server);
      await succeeds(["backup", second], env);
      await succeeds(["backup", join(folder, "acme-remote"), "-o", "acme"], env);
    }
    await succeeds(["restore", second], environment("fourth"));
    await using server = await serveInstallation(environment("fourth"), configFile);
    await assertSameAnswers(server, 1);
  });
});

describe("one organization", { timeout: 300_000 }, () => {
  test("is restored into another server that runs, from either kind of backup, without operators' keys", async () => {
    const env = environment("fifth");
    await using server = await serveInstallation(env, configFile);
    const { operatorKey = "" } = server.firstStart!;
    assert.match(await succeeds(["restore", backup, "-o", "acme"], env), /Restored the organization "acme"/);
    await assertSameAnswers(server, 1);
    const other = await fetch(`${server.url}/observability/projects`, {
      headers: { authorization: `Bearer ${known.keys[0]}` },
    });
    assert.equal(other.status, 401);

    const taken = await runSounding(["restore", backup, "-o", known.acme], { env });
    assert.match(
      taken.stderr,
      /The organization "acme" \(org_\w+\) exists\. To replace it by its backup, archive it first/,
    );

    await administer(server.url, operatorKey, `/organizations/${known.acme}/archive`, {});
    const own = join(folder, "acme");
    await succeeds(["backup", own, "-o", known.acme], env);
    await succeeds(["restore", backup, "-o", "acme"], env);
    await assertSameAnswers(server, 1);
    // The operator's key belongs to the first organization of the other installation, whose name is taken here.
    const named = await runSounding(["restore", backup, "-o", "default"], { env });
    assert.match(named.stderr, /another organization already has this name/);
    const archived = JSON.parse((await readFile(join(own, "control.jsonl"), "utf8")).split("\n")[0]!) as {
      values: { archived_at: number | null };
    };
    assert.notEqual(archived.values.archived_at, null);
  });

  test("must be in the backup, and in the database", async () => {
    const env = environment("second");
    const missing = await runSounding(["restore", backup, "-o", "nobody"], { env });
    assert.equal(missing.code, 5);
    assert.match(missing.stderr, /does not have the organization "nobody"\. It has "acme"|"default"/);
    const unknown = await runSounding(["backup", join(folder, "none"), "-o", "nobody"], { env });
    assert.equal(unknown.code, 5);
    assert.ok(!existsSync(join(folder, "none/manifest.json")));
  });
});

describe("a backup that is damaged or hostile is refused before anything is written", { timeout: 120_000 }, () => {
  type Manifest = Record<string, unknown> & {
    telemetry: { schema_version: number; columns: Record<string, string[]>; files: Record<string, unknown>[] };
    control: { migrations: string[] };
  };
  const change = (edit: (manifest: Manifest) => void) => async (copy: string) => {
    const path = join(copy, "manifest.json");
    const manifest = JSON.parse(await readFile(path, "utf8")) as Manifest;
    edit(manifest);
    await writeFile(path, JSON.stringify(manifest));
  };
  const spans = (copy: string): Promise<string> =>
    readdir(join(copy, "telemetry/spans")).then(([name]) => join(copy, "telemetry/spans", name!));
  const damages: Readonly<Record<string, readonly [damage: (copy: string) => Promise<void>, message: RegExp]>> = {
    "without a manifest": [(copy) => rm(join(copy, "manifest.json")), /has no manifest\.json: .*interrupted/],
    "with a truncated manifest": [(copy) => truncate(join(copy, "manifest.json"), 100), /is not valid JSON/],
    "with a truncated file": [
      async (copy) => truncate(await spans(copy), 50),
      /damaged: telemetry\/spans\/.* has 50 bytes/,
    ],
    "with a changed file": [
      async (copy) => {
        const path = await spans(copy);
        const bytes = await readFile(path);
        bytes[bytes.length >> 1]! ^= 1;
        await writeFile(path, bytes);
      },
      /damaged: telemetry\/spans\/.* checksum differs/,
    ],
    "with a pipe in place of a file": [
      async (copy) => {
        const path = await spans(copy);
        await rm(path);
        execFileSync("mkfifo", [path]);
      },
      /spans.* is not a file; a backup consists of files/,
    ],
    "without a file": [async (copy) => rm(await spans(copy)), /spans.* cannot be read: it does not exist/],
    "with more rows in the control database": [
      (copy) => appendFile(join(copy, "control.jsonl"), '{"table":"keys","values":{"id":"key_1"}}\n'),
      /damaged: control\.jsonl/,
    ],
    "of a newer format": [
      change((manifest) => (manifest["format_version"] = 2)),
      /has the format 2; .* Use a newer version/,
    ],
    "of a newer schema": [change(({ telemetry }) => (telemetry.schema_version = 999)), /the telemetry schema 999/],
    "of a newer control database": [
      change(({ control }) => control.migrations.push("9999_new")),
      /has the migration 9999_new that this version does not know/,
    ],
    "with a column that no table has": [
      change(({ telemetry }) => telemetry.columns["logs"]!.push("x")),
      /the column logs\.x that this version does not know/,
    ],
    "with a table that is a path": [
      change(({ telemetry }) => (telemetry.files[0]!["table"] = "../../spans")),
      /manifest\.json is invalid: \/telemetry/,
    ],
    "with a day that is a path": [
      change(({ telemetry }) => (telemetry.files[0]!["day"] = "../../x")),
      /manifest\.json is invalid: \/telemetry/,
    ],
  };
  let number = 0;
  for (const [title, [damage, message]] of Object.entries(damages)) {
    test(title, async () => {
      number += 1;
      const copy = join(folder, `damaged-${number}`);
      await cp(backup, copy, { recursive: true });
      await damage(copy);
      const env = environment(`untouched-${number}`);
      const { code, stderr } = await runSounding(["restore", copy], { env });
      assert.equal(code, 1);
      assert.match(stderr, message);
      assert.ok(!existsSync(env["SOUNDING_DATA_DIR"]!));
    });
  }

  test("and a folder with other files is not used for a new backup", async () => {
    const { code, stderr } = await runSounding(["backup", backup], { env: environment("second") });
    assert.equal(code, 1);
    assert.match(stderr, /is not empty/);
    assert.ok(existsSync(join(backup, "manifest.json")));
  });
});

describe("sounding migrate", { timeout: 120_000 }, () => {
  test("lists and runs what is pending, and changes nothing the second time", async () => {
    const env = environment("migrated");
    const pending = await runSounding(["migrate", "--check"], { env });
    assert.equal(pending.code, 1);
    assert.match(pending.stdout, /^control database: 0001_organizations_projects_keys$/m);
    assert.match(await succeeds(["migrate"], env), /steps done/);
    assert.equal(await succeeds(["migrate", "--check"], env), "The databases have the schema of this version.\n");
    await using server = await serveInstallation(env, configFile);
    assert.ok(server.firstStart !== undefined);
  });

  test(
    "migrates a telemetry store without a server, and refuses a newer one",
    { skip: needs("postgresql") },
    async (context) => {
      const postgres = await startPostgres();
      context.after(() => postgres[Symbol.asyncDispose]());
      await using clickhouse = await startRemoteServer();
      const env: Environment = {
        ...environment("migrated-remote"),
        DATABASE_URL: await postgres.newDatabase(),
        SOUNDING_CLICKHOUSE_URL: clickhouse.url,
        SOUNDING_CLICKHOUSE_PASSWORD: remotePassword,
      };
      const pending = await runSounding(["migrate", "--check", "--json"], { env });
      assert.equal(pending.code, 1);
      const { pending: steps } = JSON.parse(pending.stdout) as { pending: { store: string; step: string }[] };
      assert.ok(steps.some(({ step, store }) => store === "telemetry store" && step === "1: create the tables"));
      await succeeds(["migrate"], env);
      await succeeds(["migrate", "--check"], env);
      const query = async (text: string): Promise<void> => {
        const headers = { "x-clickhouse-user": "default", "x-clickhouse-key": remotePassword };
        const response = await fetch(clickhouse.url, { method: "POST", body: text, headers });
        assert.equal(response.status, 200, await response.text());
      };
      await query("ALTER TABLE logs DROP COLUMN dropped_attributes");
      const column = await runSounding(["migrate", "--check"], { env });
      assert.deepEqual(
        [column.code, column.stdout.split("\n")[0]],
        [1, "telemetry store: add the column logs.dropped_attributes"],
      );
      await succeeds(["migrate"], env);
      await query("INSERT INTO schema_migrations (version, name) SELECT 999, 'newer (incompatible)'");
      const newer = await runSounding(["migrate"], { env });
      assert.equal(newer.code, 1);
      assert.match(
        newer.stderr,
        /telemetry store has schema version 999, with which this server cannot work; .* Use a newer version/,
      );
    },
  );
});

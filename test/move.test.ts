/** Moves: under load, with kills, deletions and a changed target, everything that was acknowledged is in the new databases. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Collected, runInProcess, runSounding } from "../packages/cli/test/run-sounding.ts";
import { remotePassword, startRemoteServer, type RemoteServer } from "../packages/server/test/store/remote-server.ts";
import { startPostgres, type PostgresServer } from "../packages/server/test/tenancy/postgres-server.ts";
import {
  administer,
  allAnswers,
  allObjects,
  endMs,
  sendAllTelemetry,
  serveInstallation,
  type ServedInstallation,
} from "./support/installation.ts";
import { otlpSender, type OtlpSender } from "./support/otlp-sender.ts";
import { beforeTests, useAll } from "./support/hooks.ts";
import { needs } from "./support/needs.ts";
import { childEnvironment } from "./support/child-environment.ts";

const folder = await mkdtemp(join(tmpdir(), "sounding-move-"));
const env = { ...childEnvironment, SOUNDING_INSTALL: "false" };
after(() => rm(folder, { recursive: true, force: true }));

interface Databases {
  readonly directory: string;
  readonly databaseUrl?: string;
  readonly clickhouseUrl?: string;
}

async function configure(name: string, { clickhouseUrl, databaseUrl, directory }: Databases): Promise<string> {
  const file = join(folder, `${name}.yaml`);
  const content = {
    server: { log_level: "warn" },
    storage: {
      data_dir: join(folder, directory),
      ...(databaseUrl === undefined ? {} : { database_url: databaseUrl }),
    },
    telemetry: {
      sweep_delay_ms: 1000,
      ...(clickhouseUrl === undefined ? {} : { clickhouse: { url: clickhouseUrl, password: remotePassword } }),
    },
  };
  // JSON is YAML.
  await writeFile(file, JSON.stringify(content));
  return file;
}

const patienceMs = 240_000;

async function until(what: string, condition: () => Promise<boolean> | boolean): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`${what} did not happen within ${patienceMs} ms`);
    await sleep(20);
  }
}

async function newOrganization(url: string, operatorKey: string, name: string): Promise<{ id: string; key: string }> {
  const { id } = await administer<{ id: string }>(url, operatorKey, "/organizations", { name });
  const key = { organization_id: id, name: "key" };
  const { secret } = await administer<{ secret: string }>(url, operatorKey, "/keys", key);
  return { id, key: secret };
}

/** A sender that does not pause would only take the processor from what it is sent to. */
const sendPauseMs = 10;

/** Sends logs, spans and points all the time, of one record each. */
class Load {
  readonly #sender: OtlpSender;
  readonly #stop = new AbortController();
  readonly #sending: Promise<unknown>;
  readonly acknowledged = { logs: 0, spans: 0, points: 0 };

  constructor(url: string, key: string) {
    this.#sender = otlpSender(url, key);
    this.#sending = Promise.all([
      this.#repeat("logs", (number, unixNano) =>
        this.#sender.logs({ "service.name": "busy" }, [{ unixNano, body: `record ${number}` }]),
      ),
      this.#repeat("spans", (number, startUnixNano) => {
        const id = number.toString(16);
        const traceId = id.padStart(32, "c");
        return this.#sender.spans({ "service.name": "busy" }, [
          { traceId, spanId: id.padStart(16, "d"), name: "work", startUnixNano },
        ]);
      }),
      this.#repeat("points", (number, unixNano) =>
        this.#sender.metrics({ "service.name": "busy" }, [
          { name: "work.done", startUnixNano: unixNano - 1n, unixNano, sum: number },
        ]),
      ),
    ]);
  }

  async #repeat(
    kind: keyof Load["acknowledged"],
    send: (number: number, unixNano: bigint) => Promise<void>,
  ): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const number = this.acknowledged[kind];
      await send(number, BigInt(endMs) * 1_000_000n + BigInt(number));
      this.acknowledged[kind] += 1;
      await sleep(sendPauseMs);
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#sending;
  }
}

describe("sounding move", { skip: needs("postgresql"), timeout: 600_000 }, () => {
  let postgres: PostgresServer;
  let clickhouse: RemoteServer;
  beforeTests(async (stack) => {
    [postgres, clickhouse] = await useAll(stack, [startPostgres(), startRemoteServer()]);
  });

  async function query(text: string): Promise<string> {
    const headers = { "x-clickhouse-user": "default", "x-clickhouse-key": remotePassword };
    const response = await fetch(clickhouse.url, { method: "POST", body: text, headers });
    const answer = await response.text();
    assert.equal(response.status, 200, answer);
    return answer.trim();
  }

  test("moves a server under load to PostgreSQL and ClickHouse, and back", async () => {
    const old = await configure("old", { directory: "data" });
    const databaseUrl = await postgres.newDatabase();
    const moved = await configure("new", { directory: "data", databaseUrl, clickhouseUrl: clickhouse.url });
    const words = ["move", "--config", old, "--to", moved];
    const record = join(folder, "data/move.json");
    const known: Record<string, Map<string, unknown>> = {};
    let load: Load;
    let objects: unknown;
    let operatorKey = "";
    let busy = { id: "", key: "" };
    let gone = { id: "", key: "" };
    let run: ReturnType<typeof runSounding>;
    {
      await using server = await serveInstallation(env, old);
      const { url } = server;
      const key = server.firstStart!.key;
      operatorKey = server.firstStart!.operatorKey!;
      const acme = await newOrganization(url, operatorKey, "acme");
      gone = await newOrganization(url, operatorKey, "gone");
      busy = await newOrganization(url, operatorKey, "busy");
      await sendAllTelemetry(url, key, 1);
      await sendAllTelemetry(url, acme.key, 2);
      await sendAllTelemetry(url, gone.key, 3);
      known[acme.key] = await allAnswers(url, acme.key);
      load = new Load(url, busy.key);

      const check = await runSounding([...words, "--check"], { env });
      assert.equal(check.code, 0, check.stderr);
      assert.match(
        check.stdout,
        /telemetry: telemetry\/clickhouse to http:.*rows, .*\ncontrol database: control\.sqlite to /,
      );
      assert.ok(!existsSync(record));
      assert.equal(await query("SELECT count() FROM system.tables WHERE name = 'spans'"), "0");

      // The first attempt is killed when some of it is copied.
      await runSounding(words, {
        env,
        during: (child) => {
          void until("a copy", async () => {
            const isCopied = (await readFile(record, "utf8").catch(() => "")).includes("lastBlock");
            if (isCopied) child.kill("SIGKILL");
            return isCopied || child.exitCode !== null;
          });
        },
      });
      assert.equal((JSON.parse(await readFile(record, "utf8")) as { state: string }).state, "copying");

      // The second one is killed after the server has stopped, while it writes the control database.
      let stderr = "";
      run = runSounding(words, {
        env,
        during: (child) => {
          child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString("utf8")));
          void until("the control database", async () => {
            const isLate = (await readFile(record, "utf8").catch(() => "")).includes('"controlBegun":true');
            if (isLate) child.kill("SIGKILL");
            return isLate || child.exitCode !== null;
          });
        },
      });
      await until("the request to stop the server", () => stderr.includes("Stop the server now"));
      const target = "SELECT count() FROM logs WHERE organization =";
      assert.notEqual(await query(`${target} '${gone.id}'`), "0");
      const { id } = await administer<{ id: string }>(url, operatorKey, "/deletions", { organization_id: gone.id });
      await until("the deletion", async () => {
        const deletion = await administer<{ status: string }>(url, operatorKey, `/deletions/${id}`);
        return (
          !["pending", "running"].includes(deletion.status) || (deletion as { hidden_at?: unknown }).hidden_at != null
        );
      });
      await load.stop();
      objects = await allObjects(url, operatorKey);
      // Days that were compared already are changed in the target: rows are removed, and others are added.
      const yesterday = `toDate('${new Date(endMs - 24 * 3_600_000).toISOString().slice(0, 10)}')`;
      await query(`ALTER TABLE logs DELETE WHERE toDate(time) = ${yesterday} SETTINGS mutations_sync = 2`);
      await query(
        `INSERT INTO spans (organization, project, trace_id, span_id, start_time, days) SELECT '${acme.id}', 'p', '${"e".repeat(32)}', '${"f".repeat(16)}', now(), 30`,
      );
    }
    await run;
    if (JSON.parse(await readFile(record, "utf8")).state === "copying")
      await assert.rejects(serveInstallation(env, moved), /has not finished copying to/);

    const last = await runSounding(words, { env });
    assert.equal(last.code, 0, last.stderr);
    assert.match(last.stdout, /rows of telemetry and .* rows of the control database/);

    await assert.rejects(
      serveInstallation(env, old),
      /has moved control\.sqlite and telemetry\/clickhouse to postgres:/,
    );
    for (const command of [["backup", join(folder, "b")], ["org", "list"], ["migrate"]]) {
      const { code, stderr } = await runSounding([...command, "--config", old], { env });
      assert.notEqual(code, 0, command[0]);
      assert.match(stderr, /has moved control\.sqlite/, command[0]);
    }
    const again = await runSounding(words, { env });
    assert.equal(again.code, 0, again.stderr);
    assert.match(again.stdout, /moved before/);

    for (const table of ["spans", "span_details", "logs", "points", "trace_index", "resources"])
      assert.equal(await query(`SELECT count() FROM ${table} WHERE organization = '${gone.id}'`), "0", table);
    const assertMoved = async (server: ServedInstallation): Promise<void> => {
      assert.equal(server.firstStart, undefined);
      for (const [key, answers] of Object.entries(known)) {
        const now = await allAnswers(server.url, key);
        for (const [name, answer] of answers) {
          assert.equal((answer as { status: number }).status, 200, name);
          assert.deepEqual(now.get(name), answer, name);
        }
      }
      assert.deepEqual(await allObjects(server.url, operatorKey), objects);
    };
    {
      await using server = await serveInstallation(env, moved);
      await assertMoved(server);
      for (const table of ["logs", "spans", "points"] as const) {
        // Each request of points has written one of `target_info` as well.
        const sent = table === "points" ? "AND metric = 'work.done'" : "";
        assert.equal(
          await query(`SELECT count() FROM ${table} FINAL WHERE organization = '${busy.id}' ${sent}`),
          String(load.acknowledged[table]),
          table,
        );
      }
    }

    const back = await configure("back", { directory: "other" });
    const returned = await runSounding(["move", "--config", moved, "--to", back, "--json"], { env });
    assert.equal(returned.code, 0, returned.stderr);
    assert.ok((JSON.parse(returned.stdout) as { telemetry_rows: number }).telemetry_rows > 1000);
    assert.ok(!existsSync(join(folder, "other/move.json")));
    await assert.rejects(serveInstallation(env, moved), /has moved postgres:.* and http:.* to .*control\.sqlite and /);
    await using server = await serveInstallation(env, back);
    await assertMoved(server);
  });

  test("refuses targets in use, and waits for no longer than it may", async () => {
    const old = await configure("small", { directory: "small" });
    const databaseUrl = await postgres.newDatabase();
    const target = await configure("small-new", { directory: "small", databaseUrl });
    const move = (to: string, ...more: string[]) =>
      runSounding(["move", "--config", old, "--to", to, ...more], { env });
    const missing = await move(target);
    assert.match(missing.stderr, /small of the current configuration does not exist/);
    let known: unknown;
    let operatorKey = "";
    {
      await using server = await serveInstallation(env, old);
      operatorKey = server.firstStart!.operatorKey!;
      known = await allObjects(server.url, operatorKey);
      const same = await move(old);
      assert.equal(same.code, 1);
      assert.match(same.stderr, /Both configurations name the same databases \(control\.sqlite and telemetry/);
      const used = await configure("small-used", { directory: "small", clickhouseUrl: clickhouse.url });
      for (const more of [[], ["--check"]]) {
        const full = await move(used, ...more);
        assert.equal(full.code, 1);
        assert.match(full.stderr, /The telemetry store of the new configuration has rows already/);
      }
      const waited = await move(target, "--wait", "0");
      assert.equal(waited.code, 7);
      assert.match(waited.stderr, /Stop the server now.*\n.*still runs. What was copied is kept/);
      const stop = new AbortController();
      const stderr = new Collected();
      stderr.on("written", () => stop.abort());
      const cancelled = await runInProcess(["move", "--config", old, "--to", target], {
        env,
        stderr,
        signal: stop.signal,
      });
      assert.equal(cancelled.code, 130);
    }
    const { code, stderr, stdout } = await move(target);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /Moved and compared: \d+ rows of the control database in/);
    await using server = await serveInstallation(env, target);
    assert.deepEqual(await allObjects(server.url, operatorKey), known);
  });
});

/** Several servers with one Postgres: one evaluates, and another one takes over when it ends or loses its connection. */
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { openControlDatabase, type ControlDatabase } from "../../src/tenancy/control-database.ts";
import { createOrganization } from "../../src/tenancy/organizations.ts";
import { startSingletonJob } from "../../src/tenancy/singleton-job.ts";
import { silentLogger } from "../../src/logger.ts";
import { onceAborted } from "./once-aborted.ts";
import { startPostgres, type PostgresServer } from "../tenancy/postgres-server.ts";
import { until } from "./alerts-fixture.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { needs } from "../../../../test/support/needs.ts";

interface ServerProcess {
  readonly child: ChildProcess;
  evaluations: number;
}

describe("servers that share a Postgres", { skip: needs("postgresql") }, () => {
  let postgres: PostgresServer;
  let directory: string;
  let url: string;
  let control: ControlDatabase;
  const started: ServerProcess[] = [];

  beforeTests(async (stack) => {
    postgres = stack.use(await startPostgres());
    directory = await mkdtemp(join(tmpdir(), "sounding-takeover-"));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    stack.defer(() => started.forEach(({ child }) => child.kill("SIGKILL")));
    url = await postgres.newDatabase();
    control = await openControlDatabase({ url, dataDirectory: directory });
    stack.defer(() => control.close());
    await createOrganization(control, { name: "acme" });
  });

  function startProcess(): ServerProcess {
    const script = fileURLToPath(new URL("takeover-process.ts", import.meta.url));
    const child = spawn(process.execPath, [script, JSON.stringify({ url, dataDirectory: directory })], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const server: ServerProcess = { child, evaluations: 0 };
    createInterface({ input: child.stdout }).on("line", () => (server.evaluations += 1));
    started.push(server);
    return server;
  }

  async function storedActiveAt(): Promise<number | undefined> {
    const row = await control.read((database) =>
      database.selectFrom("alert_states").select("state").executeTakeFirst(),
    );
    if (row === undefined) return undefined;
    const { alerts } = JSON.parse(row.state) as { alerts: { activeAtMs: number }[] };
    return alerts[0]?.activeAtMs;
  }

  test("evaluate rules on one of them, and on the other one after a kill, which continues with the states", async () => {
    const first = startProcess();
    await until(() => first.evaluations > 0, "the first server's evaluation");
    const second = startProcess();
    await until(async () => (await storedActiveAt()) !== undefined, "the stored state");
    const activeAt = await storedActiveAt();
    const seen = first.evaluations;
    await until(() => first.evaluations >= seen + 2, "further evaluations");
    assert.equal(second.evaluations, 0);
    first.child.kill("SIGKILL");
    await until(() => second.evaluations >= 2, "the second server's evaluation");
    assert.equal(await storedActiveAt(), activeAt);
    second.child.kill("SIGKILL");
  });

  test("end the job of one that loses its connection before it takes the lock again", async () => {
    const events: string[] = [];
    const job = (name: string) =>
      startSingletonJob({
        control,
        name: "test-job",
        logger: silentLogger,
        retryMs: 50,
        async run(signal, lost) {
          events.push(`${name} starts`);
          await onceAborted(signal);
          events.push(`${name} ${lost.aborted ? "loses the lock" : "ends"}`);
        },
      });
    const one = job("one");
    await until(() => one.isRunning);
    const other = job("other");
    await control.read((database) =>
      sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sounding test-job' and pid in (select pid from pg_locks where locktype = 'advisory')`.execute(
        database,
      ),
    );
    await until(() => events.length >= 3);
    await Promise.all([one.close(), other.close()]);
    assert.deepEqual(events.slice(0, 2), ["one starts", "one loses the lock"]);
    // At any time, one of them runs.
    for (const [index, event] of events.entries())
      assert.equal(event.endsWith("starts"), index % 2 === 0, events.join(", "));
  });

  test("pause the job while Postgres is down, and continue after it", async () => {
    let runs = 0;
    const job = startSingletonJob({
      control,
      name: "another-job",
      logger: silentLogger,
      retryMs: 50,
      async run(signal) {
        runs += 1;
        await onceAborted(signal);
      },
    });
    await until(() => job.isRunning);
    await postgres.stop();
    await until(() => !job.isRunning, "the end of the job");
    await postgres.start();
    await until(() => job.isRunning, "the job to run again");
    assert.equal(runs, 2);
    await job.close();
    assert.equal(job.isRunning, false);
  });
});

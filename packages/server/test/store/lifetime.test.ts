import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readdir, rm, stat, symlink, truncate } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { AppError } from "../../src/errors.ts";
import { silentLogger } from "../../src/logger.ts";
import { createConnection } from "../../src/store/connection.ts";
import { socketPathFor } from "../../src/store/embedded/socket-path.ts";
import type { FromEngine } from "../../src/store/embedded/protocol.ts";
import { callerOrganization, sql } from "../../src/store/statement.ts";
import { createDisabledStore } from "../../src/store/disabled-store.ts";
import {
  countSpans,
  numberedSpans,
  openTestStore,
  recentUnixNano,
  scopeOf,
  spanBatch,
  temporaryDirectory,
  untilStored,
} from "./test-store.ts";

describe("the embedded store", () => {
  test("keeps its rows over a restart, in a folder that only its user can read", async () => {
    const directory = await temporaryDirectory();
    try {
      {
        await using opened = await openTestStore({ directory });
        await opened.store.append(spanBatch("org_again", numberedSpans("again", 100)));
        assert.equal((await stat(join(directory, "telemetry"))).mode & 0o777, 0o700);
        assert.equal((await stat(join(directory, "telemetry/store.sock"))).mode & 0o777, 0o600);
      }
      await using opened = await openTestStore({ directory });
      assert.equal((await countSpans(opened.store, "org_again")).size, 100);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  test("shows a query every row that was acknowledged before it", async () => {
    await using opened = await openTestStore();
    const { store } = opened;
    for (let count = 1; count <= 5; count += 1) {
      await store.append(spanBatch("org_own", numberedSpans(`own${count}`, 1)));
      const [row] = await store
        .open(scopeOf("org_own"))
        .query<{ spans: string }>(sql`SELECT count() AS spans FROM spans WHERE organization = ${callerOrganization}`);
      assert.equal(Number(row!.spans), count);
    }
  });

  test("writes its queue before it ends", async () => {
    const directory = await temporaryDirectory();
    try {
      const first = await openTestStore({ directory });
      const appends = [1, 2, 3].map((number) =>
        first.store.append(spanBatch("org_end", numberedSpans(`end${number}`, 10))),
      );
      await first[Symbol.asyncDispose]();
      await Promise.all(appends);
      await using opened = await openTestStore({ directory });
      assert.equal((await countSpans(opened.store, "org_end")).size, 30);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  test("deletes rows after their retention, which each project sets", async () => {
    await using opened = await openTestStore();
    const dayNano = 86_400_000_000_000n;
    const startUnixNano = recentUnixNano - 10n * dayNano;
    await opened.store.append(
      spanBatch("org_days", [
        { traceId: "short", spanId: "short", startUnixNano, days: 7 },
        { traceId: "long", spanId: "long", startUnixNano, days: 30 },
      ]),
    );
    await untilStored(opened.store);
    const connection = createConnection({
      url: "http://localhost",
      socketPath: await socketPathFor(join(opened.directory, "telemetry")),
      database: "default",
      compression: false,
      maximumConnections: 1,
    });
    // What the store does automatically within hours.
    for (const table of ["spans", "trace_index"]) {
      await connection.command(`OPTIMIZE TABLE ${table} FINAL`, AbortSignal.timeout(30_000));
    }
    assert.equal(
      await connection.command("SELECT trace_id FROM spans FORMAT TSV", AbortSignal.timeout(30_000)),
      "long\n",
    );
    assert.equal(
      await connection.command("SELECT trace_id FROM trace_index FORMAT TSV", AbortSignal.timeout(30_000)),
      "long\n",
    );
    await connection.close();
  });

  test("refuses a request whose rows span too many days, and only that one", async () => {
    await using opened = await openTestStore();
    const dayNano = 86_400_000_000_000n;
    const scattered = numberedSpans("scattered", 150).map((span, index) => ({
      ...span,
      days: 3650,
      startUnixNano: recentUnixNano - BigInt(index) * dayNano,
    }));
    const [wide, narrow] = await Promise.allSettled([
      opened.store.append(spanBatch("org_wide", scattered)),
      opened.store.append(spanBatch("org_narrow", scattered.slice(0, 60))),
    ]);
    assert.equal(narrow.status, "fulfilled");
    assert.ok(wide.status === "rejected" && wide.reason instanceof AppError);
    assert.equal(wide.reason.code, "invalid_request");
    assert.match(wide.reason.message, /more than 100 days/);
    assert.equal((await countSpans(opened.store, "org_narrow")).size, 60);
  });

  test("reports damaged parts to operators, and continues with the rest", async () => {
    const directory = await temporaryDirectory();
    try {
      {
        await using opened = await openTestStore({ directory });
        for (const name of ["good", "bad"]) {
          await opened.store.append(spanBatch(`org_${name}`, numberedSpans(name, 10)));
          await untilStored(opened.store);
        }
      }
      const table = join(directory, "telemetry/clickhouse/data/default/spans");
      // A part is named after its partition and the numbers of its first and last insert, counted with the table's changes.
      const insertOf = (name: string): number => Number(/_(\d+)_\1_\d+$/.exec(name)?.[1] ?? 0);
      const [last] = (await readdir(table)).sort((left, right) => insertOf(right) - insertOf(left));
      await truncate(join(table, last!, "data.bin"), 10);
      const errors: string[] = [];
      const damaged = Promise.withResolvers<void>();
      await using opened = await openTestStore({
        directory,
        logger: {
          ...silentLogger,
          error(_fields, message) {
            errors.push(message);
            damaged.resolve();
          },
        },
      });
      await damaged.promise;
      assert.match(errors[0]!, /damaged/);
      assert.equal((await countSpans(opened.store, "org_good")).size, 10);
      assert.equal((await countSpans(opened.store, "org_bad")).size, 0);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  test("reports that the package is missing", async () => {
    const directory = await temporaryDirectory();
    try {
      // The same sources in a place where no package can be found but our own.
      const source = fileURLToPath(new URL("../../src", import.meta.url));
      await cp(source, directory, { recursive: true });
      await mkdir(join(directory, "node_modules/@sounding"), { recursive: true });
      const languages = fileURLToPath(new URL("../../../promql", import.meta.url));
      await symlink(languages, join(directory, "node_modules/@sounding/promql"));
      const child = fork(join(directory, "store/embedded/main.ts"), [], { execArgv: [] });
      const ended = once(child, "exit").then(([code]) => assert.fail(`it ended with code ${String(code)}`));
      const answered = Promise.race([once(child, "message") as Promise<[FromEngine]>, ended]);
      child.send({
        type: "start",
        settings: { dataDirectory: directory, spoolDirectory: directory, socketPath: directory, memoryBytes: 1 },
      });
      const [message] = await answered;
      assert.equal(message.type, "absent");
      child.disconnect();
      await assert.rejects(ended, /code 0/);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});

test("a path that is too long for a socket gets one in the temporary folder", async () => {
  const long = join(await temporaryDirectory(), "a".repeat(100));
  const path = await socketPathFor(long);
  assert.ok(Buffer.byteLength(path) <= 100, path);
  assert.equal(path, await socketPathFor(long));
  assert.notEqual(path, await socketPathFor(`${long}b`));
});

test("a store that is disabled refuses and explains why", async () => {
  const store = createDisabledStore();
  const refused = (error: unknown): boolean => error instanceof AppError && error.code === "overloaded";
  await assert.rejects(store.append(spanBatch("org_off", numberedSpans("off", 1))), refused);
  assert.throws(() => store.open(scopeOf("org_off")), refused);
  assert.match(store.state().reason!, /telemetry\.enabled/);
  await store.close();
});

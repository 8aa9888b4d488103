/** What callers and operators get when the control database fails: the cause, and 503 while it can recover. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, open, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { sql } from "kysely";
import { AppError } from "../../src/errors.ts";
import { silentLogger } from "../../src/logger.ts";
import { bootstrap } from "../../src/tenancy/bootstrap.ts";
import { openControlDatabase, type ControlDatabase } from "../../src/tenancy/control-database.ts";
import { toDatabaseFailure } from "../../src/tenancy/database-error.ts";
import { createKeyCheck } from "../../src/tenancy/key-check.ts";
import { createKey, listKeys } from "../../src/tenancy/keys.ts";
import { failure } from "./each-database.ts";
import { beforeEachTest } from "../../../../test/support/hooks.ts";
import { onlyAsRoot } from "../../../../test/support/needs.ts";

describe("the control database in SQLite", () => {
  let dataDirectory: string;
  beforeEachTest(async (stack) => {
    dataDirectory = await mkdtemp(join(tmpdir(), "sounding-faults-"));
    stack.defer(() => rm(dataDirectory, { recursive: true, force: true }));
  });

  async function newKeys(control: ControlDatabase, count: number): Promise<void> {
    const { data } = await listKeys(control, { limit: 1 });
    const { organization_id: organizationId } = data[0]!;
    for (let index = 0; index < count; index++) await createKey(control, { organizationId, name: `key ${index}` });
  }

  test("that may not grow reports that the disk is full, changes nothing, and continues when there is space", async () => {
    const control = await openControlDatabase({ dataDirectory });
    try {
      await bootstrap(control);
      const limit = (pages: number) =>
        control.read((database) => sql`pragma max_page_count = ${sql.raw(String(pages))}`.execute(database));
      await limit(1);
      const full = await failure(() => newKeys(control, 200));
      assert.equal(full.code, "overloaded");
      assert.match(full.message, /^The disk of the control database is full, so nothing was changed\./);
      const { length } = (await listKeys(control, { limit: 100 })).data;
      assert.ok(length >= 2);
      await limit(1_000_000);
      await newKeys(control, 1);
      assert.equal((await listKeys(control, { limit: 100 })).data.length, Math.min(100, length + 1));
    } finally {
      await control.close();
    }
  });

  test(
    "on a full disk reports it, still checks keys, and continues when there is space",
    { skip: onlyAsRoot() },
    async () => {
      const disk = join(dataDirectory, "disk");
      await mkdir(disk);
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", disk], { stdio: "ignore" });
      try {
        const control = await openControlDatabase({ dataDirectory: disk });
        const first = (await bootstrap(control))!;
        await writeFile(join(disk, "filler"), Buffer.alloc(4_000_000)).catch(() => {});
        const full = await failure(() => newKeys(control, 200));
        assert.deepEqual(
          [full.code, /disk of the control database is full/.test(full.message)],
          ["overloaded", true],
          full.message,
        );
        const keys = createKeyCheck({ control, logger: silentLogger });
        assert.equal((await keys.check(first.key)).organizationName, "default");
        await rm(join(disk, "filler"));
        await newKeys(control, 1);
        await keys.close();
        await control.close();
      } finally {
        execFileSync("umount", ["-l", disk]);
      }
    },
  );

  test("that is read-only reports it", async () => {
    const control = await openControlDatabase({ dataDirectory });
    await bootstrap(control);
    await control.read((database) => sql`pragma query_only = 1`.execute(database));
    const readOnly = await failure(() => newKeys(control, 1));
    assert.equal(readOnly.code, "overloaded");
    assert.match(readOnly.message, /is read-only/);
    await control.close();
  });

  test("that another process locks is waited for without blocking this one", async () => {
    const control = await openControlDatabase({ dataDirectory });
    await bootstrap(control);
    const other = new DatabaseSync(join(dataDirectory, "control.sqlite"));
    other.exec("begin immediate");
    const waiting = newKeys(control, 1);
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
      if (turns === 3) other.exec("rollback");
    }, 1);
    await waiting;
    clearInterval(timer);
    // If SQLite itself waited, no timer would fire and the lock would never be released.
    assert.ok(turns >= 3);
    other.close();
    await control.close();
  });

  for (const [what, damage] of [
    ["cut off", (path: string) => truncate(path, 5000)],
    ["overwritten", async (path: string) => writeFile(path, Buffer.alloc((await stat(path)).size, "x"))],
    [
      "overwritten in its middle",
      async (path: string) => {
        const file = await open(path, "r+");
        const { size } = await file.stat();
        await file.write(Buffer.alloc(size - 100, 0xee), 0, size - 100, 100);
        await file.close();
      },
    ],
  ] as const) {
    test(`that was ${what} is not opened, and the message names the file and the remedy`, async () => {
      const control = await openControlDatabase({ dataDirectory });
      await bootstrap(control);
      await control.close();
      const path = join(dataDirectory, "control.sqlite");
      await damage(path);
      const error = await failure(async () => {
        const reopened = await openControlDatabase({ dataDirectory });
        try {
          await bootstrap(reopened);
        } finally {
          await reopened.close();
        }
      });
      assert.notEqual(error.code, undefined, error.message);
      assert.match(error.message, /control database .*damaged.*[Rr]estore/);
    });
  }
});

test("every database failure that an operator can fix is overloaded, with its cause", () => {
  const postgres = (code: string): Error => Object.assign(new Error("secret detail"), { code });
  const sqlite = (errcode: number): Error =>
    Object.assign(new Error("secret detail"), { code: "ERR_SQLITE_ERROR", errcode });
  for (const [error, message] of [
    [postgres("53100"), /disk .* is full/],
    [postgres("53200"), /out of memory/],
    [postgres("53300"), /cannot be reached/],
    [postgres("57P01"), /cannot be reached/],
    [postgres("08006"), /cannot be reached/],
    [postgres("ECONNREFUSED"), /cannot be reached/],
    [postgres("25006"), /read-only/],
    [postgres("40P01"), /busy/],
    [postgres("28P01"), /rejects the server's login/],
    [postgres("58030"), /cannot be read or written/],
    [postgres("XX001"), /damaged/],
    [sqlite(5), /busy/],
    [sqlite(261), /busy/],
    [sqlite(8), /read-only/],
    [sqlite(1032), /read-only/],
    [sqlite(10), /cannot be read or written/],
    [sqlite(778), /cannot be read or written/],
    [sqlite(11), /damaged/],
    [sqlite(13), /disk .* is full/],
    [sqlite(14), /cannot be read or written/],
    [new AggregateError([postgres("ECONNREFUSED"), postgres("ECONNREFUSED")]), /cannot be reached/],
  ] as const) {
    const failed = toDatabaseFailure(error);
    assert.equal(failed.code, "overloaded", String(message));
    assert.match(failed.message, message);
    assert.ok(failed.retryAfterMs! > 0 && !failed.message.includes("secret"));
    assert.equal(failed.cause, error);
  }
  for (const error of [postgres("42601"), sqlite(1), new Error("a bug")])
    assert.equal(toDatabaseFailure(error).code, "internal");
  const own = new AppError("conflict", "x");
  assert.equal(toDatabaseFailure(own), own);
});

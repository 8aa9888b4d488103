/** A control database that lost its data, next to existing telemetry, is not treated as a first start. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { startApp } from "../../src/app.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { createLogger } from "../../src/logger.ts";
import { openAdministration } from "../../src/tenancy/administration.ts";
import { failure } from "./each-database.ts";
import { beforeEachTest } from "../../../../test/support/hooks.ts";

describe("a start", () => {
  let dataDirectory: string;
  beforeEachTest(async (stack) => {
    dataDirectory = await mkdtemp(join(tmpdir(), "sounding-installation-"));
    stack.defer(() => rm(dataDirectory, { recursive: true, force: true }));
  });

  /** Starts and ends a server; whether it created the first keys. */
  async function start(storage: object = {}, telemetry = true): Promise<boolean> {
    const { config } = await loadConfig({
      env: {},
      overrides: {
        server: { port: 0 },
        storage: { data_dir: dataDirectory, ...storage },
        // Nothing listens there: the store is not needed for a start.
        telemetry: {
          enabled: telemetry,
          clickhouse: {
            url: "http://127.0.0.1:1",
            user: "default",
            database: "default",
            cold_volume: "cold",
            compression: false,
          },
        },
        discovery: { enabled: false },
      },
    });
    const app = await startApp({ config: config!, logger: createLogger("silent"), version: "0.0.0-test" });
    await app.close();
    return app.firstStart !== undefined;
  }

  const database = (): string => join(dataDirectory, "control.sqlite");
  async function empty(how: "removed" | "emptied"): Promise<void> {
    for (const suffix of ["", "-wal", "-shm"]) await rm(`${database()}${suffix}`, { force: true });
    if (how === "emptied") await writeFile(database(), "");
  }

  for (const how of ["removed", "emptied"] as const) {
    test(`with a control database that was ${how} is refused, and creates nothing until it is allowed`, async () => {
      assert.equal(await start(), true);
      assert.equal(await start(), false);
      await empty(how);
      for (const attempt of [() => start(), () => start(), () => openAdministration({ dataDirectory })]) {
        const { message } = await failure(attempt);
        assert.match(message, /control\.sqlite has no organizations, but .*installation\.json shows/);
        assert.match(message, /Restore .* storage\.accept_empty_database/);
      }
      assert.equal(await start({ accept_empty_database: true }), true);
      assert.equal(await start(), false);
    });
  }

  test("with the data of an embedded store and no control database is refused", async () => {
    await mkdir(join(dataDirectory, "telemetry", "clickhouse", "store"), { recursive: true });
    assert.match(
      (await failure(() => start())).message,
      /telemetry\/clickhouse shows that this server has been in use/,
    );
  });

  test("in an empty folder, or one that never kept telemetry, is a first start", async () => {
    await mkdir(join(dataDirectory, "models"));
    assert.equal(await start({}, false), true);
    await empty("removed");
    assert.equal(await start({}, false), true);
  });
});

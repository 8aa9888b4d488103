/** Storage policies of a ClickHouse server: local disks take the place of a bucket. */
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Connection } from "../../src/store/connection.ts";
import { migrate } from "../../src/store/migrations.ts";
import { connectRemote } from "../../src/store/replicas/connect-remote.ts";
import { silentLogger } from "../../src/logger.ts";
import { openStore } from "../../src/store/open-store.ts";
import { remotePassword, startRemoteServer, type RemoteServer } from "./remote-server.ts";
import {
  countSpans,
  numberedSpans,
  openTestStore,
  recentUnixNano,
  spanBatch,
  temporaryDirectory,
  testSettings,
  untilStored,
} from "./test-store.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const volumes = (names: Record<string, string>): string =>
  Object.entries(names)
    .map(([volume, disk]) => `<${volume}><disk>${disk}</disk></${volume}>`)
    .join("");
const configuration = (directory: string): string => `<clickhouse><storage_configuration>
  <disks><archive><path>${directory}/archive/</path></archive></disks>
  <policies>
    <tiered><volumes>${volumes({ default: "default", cold: "archive" })}</volumes></tiered>
    <archived><volumes>${volumes({ only: "archive" })}</volumes></archived>
  </policies>
</storage_configuration></clickhouse>`;

describe("a server with storage policies", () => {
  let remote: RemoteServer;
  let connection: Connection;
  const signal = AbortSignal.timeout(300_000);
  const settings = (storage: { storage_policy?: string; cold_after_days?: number; cold_volume?: string }) => ({
    ...testSettings,
    clickhouse: {
      ...testSettings.clickhouse,
      url: remote.url,
      user: "sounding",
      password: remotePassword,
      ...storage,
    },
  });
  const ask = async (text: string): Promise<string> => (await connection.command(`${text} FORMAT TSV`, signal)).trim();
  const dropTables = async (): Promise<void> => {
    const names = await ask("SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY engine");
    for (const name of names.split("\n")) await connection.command(`DROP TABLE IF EXISTS ${name}`, signal);
  };
  const policies = (): Promise<string> =>
    ask(
      "SELECT DISTINCT storage_policy FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name != 'schema_migrations'",
    );
  beforeTests(async (stack) => {
    remote = stack.use(await startRemoteServer({ configuration }));
    connection = connectRemote({ ...settings({}), logger: silentLogger, maximumConnections: 1 });
    stack.defer(() => connection.close());
  });

  test("stores new tables by the policy, and moves rows of an age to the volume", async () => {
    await using opened = await openTestStore({ settings: settings({ storage_policy: "tiered", cold_after_days: 7 }) });
    const { store } = opened;
    assert.equal(await policies(), "tiered");
    const old = recentUnixNano - 8n * 86_400_000_000_000n;
    const spansAt = (name: string, startUnixNano: bigint) =>
      numberedSpans(name, 2).map((span) => ({ ...span, startUnixNano }));
    await store.append(spanBatch("org_tiers", spansAt("old", old)));
    await store.append(spanBatch("org_tiers", spansAt("new", recentUnixNano)));
    await untilStored(store);
    const disks = (): Promise<string> =>
      ask(
        "SELECT disk_name, min_date >= today() - 1 FROM (SELECT disk_name, toDate(partition) AS min_date FROM system.parts WHERE table = 'spans' AND active) GROUP BY ALL ORDER BY ALL",
      );
    while ((await disks()) !== "archive\t0\ndefault\t1") {
      signal.throwIfAborted();
      await sleep(50);
    }
    assert.equal((await countSpans(store, "org_tiers")).size, 4);
  });

  test("changes existing tables, and nothing if the settings are absent", async () => {
    await dropTables();
    await (await openTestStore({ settings: settings({}) }))[Symbol.asyncDispose]();
    assert.equal(await policies(), "default");
    const moves = (): Promise<string> =>
      ask(
        "SELECT name, extract(engine_full, 'toIntervalDay\\\\((\\\\d+)\\\\) TO VOLUME') FROM system.tables WHERE database = currentDatabase() AND engine_full LIKE '%TO VOLUME \\'cold\\'%' ORDER BY name",
      );
    assert.equal(await moves(), "");
    const tiered = { storage_policy: "tiered", cold_after_days: 7 };
    await (await openTestStore({ settings: settings(tiered) }))[Symbol.asyncDispose]();
    assert.equal(await policies(), "tiered");
    const moved = ["distribution_points", "exemplars", "logs", "points", "span_details", "spans"];
    assert.equal(await moves(), moved.map((name) => `${name}\t7`).join("\n"));
    await (await openTestStore({ settings: settings({ ...tiered, cold_after_days: 9 }) }))[Symbol.asyncDispose]();
    assert.equal(await moves(), moved.map((name) => `${name}\t9`).join("\n"));
    await (await openTestStore({ settings: settings({}) }))[Symbol.asyncDispose]();
    assert.equal(await policies(), "tiered");
    assert.equal(await moves(), moved.map((name) => `${name}\t9`).join("\n"));
  });

  test("does not change tables that have their settings", async () => {
    const sent: string[] = [];
    const recording: Connection = {
      ...connection,
      command(text, commandSignal) {
        sent.push(text);
        return connection.command(text, commandSignal);
      },
    };
    const storage = { storagePolicy: "tiered", coldAfterDays: 9, coldVolume: "cold" };
    await migrate(recording, { cluster: undefined, storage }, signal);
    assert.deepEqual(
      sent.filter((text) => !text.startsWith("SELECT")),
      [],
    );
  });

  for (const [what, storage, reason] of [
    ["does not exist", { storage_policy: "missing" }, /storage_policy is "missing".*Unknown storage policy `missing`/],
    [
      "lacks a volume of the tables",
      { storage_policy: "archived" },
      /storage_policy is "archived".*shall contain volumes of the old storage policy/,
    ],
    [
      "lacks the volume for old rows",
      { storage_policy: "tiered", cold_after_days: 3, cold_volume: "glacier" },
      /No such volume `glacier`/,
    ],
  ] as const) {
    test(`says in its state that a policy ${what}`, async () => {
      const directory = await temporaryDirectory();
      const store = await openStore({
        settings: settings(storage),
        dataDirectory: directory,
        logger: silentLogger,
      });
      try {
        while (!reason.test(store.state().reason ?? "")) {
          signal.throwIfAborted();
          await sleep(50);
        }
        assert.equal(store.state().ready, false);
      } finally {
        await store.close();
        await rm(directory, { recursive: true, force: true });
      }
    });
  }
});

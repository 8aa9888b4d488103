import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AppError } from "../../src/errors.ts";
import { createConnection } from "../../src/store/connection.ts";
import { migrate, schemaVersion } from "../../src/store/migrations.ts";
import { callerOrganization, sql } from "../../src/store/statement.ts";
import { remotePassword, startRemoteServer, type RemoteServer } from "./remote-server.ts";
import {
  countSpans,
  numberedSpans,
  openTestStore,
  scopeOf,
  spanBatch,
  testSettings,
  untilStored,
} from "./test-store.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

let remote: RemoteServer;
beforeTests(async (stack) => {
  remote = stack.use(await startRemoteServer());
});

const settingsFor = (server: RemoteServer, password = remotePassword) => ({
  ...testSettings,
  clickhouse: { ...testSettings.clickhouse, url: server.url, user: "sounding", password },
});

const cachedTokens = ["cache_read_tokens", "cache_write_tokens"];
const spanCosts = ["priced", "cost_billionths"];
const costSums = [
  "cost_billionths",
  "priced_calls",
  "priced_input_tokens",
  "priced_output_tokens",
  "priced_cache_read_tokens",
  "priced_cache_write_tokens",
];

describe("a remote ClickHouse server", () => {
  test("is migrated by servers that start concurrently, and each reads what the others wrote", async () => {
    const stores = await Promise.all([1, 2, 3].map(() => openTestStore({ settings: settingsFor(remote) })));
    try {
      await Promise.all(
        stores.map(({ store }, index) => store.append(spanBatch("org_far", numberedSpans(`far${index}`, 10)))),
      );
      // A query waits for the rows in its own server's journal, not for those in the journals of others.
      for (const { store } of stores) await untilStored(store);
      for (const { store } of stores) assert.equal((await countSpans(store, "org_far")).size, 30);
      assert.ok(remote.compressed.requests >= 3);
      assert.ok(remote.compressed.answers >= 3);
    } finally {
      for (const opened of stores) await opened[Symbol.asyncDispose]();
    }
  });

  test("that is temporarily unreachable causes refusals with Retry-After, and is used again", async () => {
    const settings = { ...settingsFor(remote), journal: "off", write_timeout_ms: 3000 } as const;
    await using opened = await openTestStore({ settings });
    const { store } = opened;
    remote.down = true;
    const overloaded = (error: unknown): boolean =>
      error instanceof AppError && error.code === "overloaded" && error.retryAfterMs! > 0;
    await assert.rejects(store.append(spanBatch("org_away", numberedSpans("away", 5))), overloaded);
    await assert.rejects(
      store.open(scopeOf("org_away")).query(sql`SELECT count() FROM spans WHERE organization = ${callerOrganization}`),
      overloaded,
    );
    remote.down = false;
    await store.append(spanBatch("org_away", numberedSpans("away", 5)));
    assert.equal((await countSpans(store, "org_away")).size, 5);
  });

  test("that is temporarily unreachable causes no refusals of rows with a journal", async () => {
    await using opened = await openTestStore({ settings: { ...settingsFor(remote), write_timeout_ms: 3000 } });
    const { store } = opened;
    remote.down = true;
    await store.append(spanBatch("org_meanwhile", numberedSpans("meanwhile", 5)));
    assert.ok(store.journalBytes() > 0);
    remote.down = false;
    assert.equal((await countSpans(store, "org_meanwhile")).size, 5);
  });

  test("that refuses the password is not ready, and the state does not show it", async () => {
    await assert.rejects(
      openTestStore({ settings: settingsFor(remote, "wrong"), readyWithinMs: 1500 }),
      (error: Error) => !error.message.includes("wrong"),
    );
  });
});

describe("the schema", () => {
  const connect = () => createConnection({ ...settingsFor(remote).clickhouse, maximumConnections: 2 });
  const { signal } = new AbortController();

  test("gets the columns that a newer version has", async () => {
    const connection = connect();
    await migrate(connection, { cluster: undefined }, signal);
    await connection.command("ALTER TABLE logs DROP COLUMN flags", signal);
    await migrate(connection, { cluster: undefined }, signal);
    assert.equal(
      await connection.command(
        "SELECT count() FROM system.columns WHERE table = 'logs' AND name = 'flags' FORMAT TSV",
        signal,
      ),
      "1\n",
    );
    await connection.close();
  });

  test("of the first version gets the indexes of spans and logs", async () => {
    const connection = connect();
    await migrate(connection, { cluster: undefined }, signal);
    await connection.command("ALTER TABLE spans DROP INDEX end_time_range, DROP INDEX attributes_search", signal);
    await connection.command("ALTER TABLE spans DROP INDEX attribute_types_search", signal);
    await connection.command("ALTER TABLE logs DROP INDEX trace_id_search, DROP INDEX attributes_search", signal);
    await connection.command("ALTER TABLE logs DROP INDEX body_search, DROP INDEX attribute_types_search", signal);
    await connection.command("ALTER TABLE logs DROP INDEX body_type_range", signal);
    await connection.command("DELETE FROM schema_migrations WHERE version > 1", signal);
    await migrate(connection, { cluster: undefined }, signal);
    assert.equal(
      await connection.command(
        "SELECT table, expr, type FROM system.data_skipping_indices WHERE table IN ('spans', 'logs') ORDER BY table, expr FORMAT TSV",
        signal,
      ),
      [
        "logs\tattribute_types\tngrambf_v1",
        "logs\tbody_type\tminmax",
        "logs\tlower(concat(event_name, body))\tngrambf_v1",
        "logs\tmapValues(attributes)\tbloom_filter",
        "logs\ttrace_id\tbloom_filter",
        "spans\tattribute_types\tngrambf_v1",
        "spans\tend_time\tminmax",
        "spans\tmapValues(attributes)\tbloom_filter",
        "",
      ].join("\n"),
    );
    await connection.close();
  });

  test("records the hours of rows that were written before it did so", async () => {
    const connection = connect();
    await migrate(connection, { cluster: undefined }, signal);
    const row = "SELECT 'org_old' AS organization, now64(9) - toIntervalHour(5) AS";
    await connection.command(`INSERT INTO spans (organization, start_time, days) ${row} start_time, 30`, signal);
    await connection.command(`INSERT INTO logs (organization, time, days) ${row} time, 30`, signal);
    await connection.command("TRUNCATE TABLE row_touches", signal);
    await connection.command("DELETE FROM schema_migrations WHERE version > 5", signal);
    await migrate(connection, { cluster: undefined }, signal);
    assert.equal(
      await connection.command(
        `SELECT source, hour = toStartOfHour(now() - toIntervalHour(5), 'UTC'), days FROM row_touches
          WHERE organization = 'org_old' AND source NOT IN ('calls', 'spend') ORDER BY source FORMAT TSV`,
        signal,
      ),
      "logs\t1\t30\nspans\t1\t30\n",
    );
    await connection.close();
  });

  for (const [name, version, missing] of [
    ["cached tokens", 7, { spans: [...cachedTokens, ...spanCosts], sums: [...cachedTokens, ...costSums] }],
    ["costs", 8, { spans: spanCosts, sums: costSums }],
  ] as const) {
    test(`of a version without ${name} gets them, also from the attributes of old spans`, async () => {
      const connection = connect();
      await migrate(connection, { cluster: undefined }, signal);
      const organization = `org_${version}`;
      const drop = (columns: readonly string[]): string => columns.map((each) => `DROP COLUMN ${each}`).join(", ");
      const view = "ALTER TABLE call_hours_sums MODIFY QUERY";
      const others = "organization, project, toStartOfHour(sums.minute) AS minute, generation";
      await connection.command(`${view} SELECT ${others} FROM call_minutes AS sums`, signal);
      await connection.command(`ALTER TABLE spans ${drop(missing.spans)}`, signal);
      for (const table of ["call_minutes", "call_hours"])
        await connection.command(`ALTER TABLE ${table} ${drop(missing.sums)}`, signal);
      await connection.command(`DELETE FROM schema_migrations WHERE version > ${version}`, signal);
      for (const cost of ["0.0509", "x", "-1", "1e300", "nan"]) {
        const attributes = `map('gen_ai.usage.cache_read.input_tokens', '7', 'gen_ai.usage.cache_creation.input_tokens', 'x', 'gen_ai.usage.cost', '${cost}')`;
        const cached = version === 7 ? "" : ", cache_read_tokens";
        await connection.command(
          `INSERT INTO spans (organization, start_time, attributes, days${cached}) SELECT '${organization}', now64(9), ${attributes}, 30${cached === "" ? "" : ", 7"}`,
          signal,
        );
      }
      await migrate(connection, { cluster: undefined }, signal);
      assert.equal(
        await connection.command(
          `SELECT cache_read_tokens, cache_write_tokens, priced, cost_billionths FROM spans
            WHERE organization = '${organization}' ORDER BY priced DESC FORMAT TSV`,
          signal,
        ),
        "7\t0\t1\t50900000\n" + "7\t0\t0\t0\n".repeat(4),
      );
      const columns = [...cachedTokens, ...costSums];
      const values = columns.map((_, index) => index + 3).join(", ");
      await connection.command(
        `INSERT INTO call_minutes (organization, minute, generation, ${columns.join(", ")}, days)
          SELECT '${organization}', now(), 1, ${values}, 30`,
        signal,
      );
      assert.equal(
        await connection.command(
          `SELECT ${columns.join(", ")} FROM call_hours WHERE organization = '${organization}' FORMAT TSV`,
          signal,
        ),
        `${values.replaceAll(", ", "\t")}\n`,
      );
      await connection.close();
    });
  }

  test("of a version without sums of spend gets them, also of rows that were written before", async () => {
    const connection = connect();
    await migrate(connection, { cluster: undefined }, signal);
    const touches =
      "SELECT organization, 'calls' AS source, toStartOfHour(end_time) AS hour, max(toUnixTimestamp64Nano(now64(9))) AS touched_unix_nano, max(days) AS days";
    for (const statement of [
      "DROP TABLE spend_quarters",
      `ALTER TABLE calls_touch MODIFY QUERY ${touches} FROM spans GROUP BY organization, hour`,
      "ALTER TABLE spans DROP COLUMN currency",
      "DELETE FROM schema_migrations WHERE version > 9",
    ])
      await connection.command(statement, signal);
    const insert = async (hours: number): Promise<void> => {
      const end = `now64(9) - toIntervalHour(${hours})`;
      await connection.command(
        `INSERT INTO spans (organization, start_time, end_time, days) SELECT 'org_spend', ${end}, ${end}, 30`,
        signal,
      );
    };
    await insert(5);
    await migrate(connection, { cluster: undefined }, signal);
    await insert(3);
    assert.equal(
      await connection.command(
        `SELECT source, uniqExact(hour) FROM row_touches WHERE organization = 'org_spend' AND source IN ('calls', 'spend')
          GROUP BY source ORDER BY source FORMAT TSV`,
        signal,
      ),
      "calls\t2\nspend\t2\n",
    );
    assert.equal(
      await connection.command(
        "SELECT currency FROM spans WHERE organization = 'org_spend' LIMIT 1 FORMAT TSV",
        signal,
      ),
      "\n",
    );
    assert.equal(await connection.command("SELECT count() FROM spend_quarters FORMAT TSV", signal), "0\n");
    await connection.close();
  });

  test("of a newer version is used unless that version says that this one cannot", async () => {
    const connection = connect();
    const add = (name: string): Promise<string> =>
      connection.command(
        `INSERT INTO schema_migrations (version, name) SELECT ${schemaVersion + 1}, '${name}'`,
        signal,
      );
    await add("add a later table");
    await migrate(connection, { cluster: undefined }, signal);
    await add("another order of rows (incompatible)");
    await assert.rejects(migrate(connection, { cluster: undefined }, signal), /Use a newer version/);
    await connection.command(`DELETE FROM schema_migrations WHERE version > ${schemaVersion}`, signal);
    await connection.close();
  });
});

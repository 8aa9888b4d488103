import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { LimitLedger } from "../../src/limits/shared/limit-ledger.ts";
import { MemoryLedger } from "../../src/limits/shared/memory-ledger.ts";
import { PostgresLedger } from "../../src/limits/shared/postgres-ledger.ts";
import { ValkeyLedger } from "../../src/limits/shared/valkey-ledger.ts";
import { openControlDatabase } from "../../src/tenancy/control-database.ts";
import { noPostgres, startPostgres, type PostgresServer } from "../tenancy/postgres-server.ts";
import { admitUntilRefused, limitedServer, type LimitedServer } from "./limited-servers.ts";
import { noValkey, startValkey, type ValkeyServer } from "./valkey-server.ts";

/** Nothing here waits for a ledger that long, unless the machine is stalled. */
const timeoutMs = 30_000;

describe("limits shared in memory", () => {
  const ledger = new MemoryLedger();
  define(async () => ledger);
});

describe("limits shared through Valkey", { skip: noValkey ?? false }, () => {
  let valkey: ValkeyServer;
  before(async () => {
    valkey = await startValkey();
  });
  define(async () => new ValkeyLedger({ url: valkey.url, timeoutMs }));
  after(() => valkey.remove());
});

describe("limits shared through Postgres", { skip: noPostgres ?? false }, () => {
  let postgres: PostgresServer;
  let url: string;
  before(async () => {
    postgres = await startPostgres();
    url = await postgres.newDatabase();
    await (await openControlDatabase({ url, dataDirectory: "" })).close();
  });
  define(async () => new PostgresLedger({ url, timeoutMs }));
  after(() => postgres.remove());
});

/** @param open another server's access to the same ledger */
function define(open: () => Promise<LimitLedger>): void {
  const four = async (key: Parameters<typeof limitedServer>[1]): Promise<LimitedServer[]> =>
    Promise.all(Array.from({ length: 4 }, async () => limitedServer(await open(), key)));
  const closeAll = async (servers: readonly LimitedServer[]): Promise<void> => {
    await Promise.all(servers.map(({ shared }) => shared.close()));
  };

  test("four servers under a flood admit what one limit of 600 requests per minute allows, within 5", async () => {
    const servers = await four({ key: { requests_per_minute: 600 } });
    const startMs = performance.now();
    let admitted = 0;
    let lastRoundMs = startMs;
    while (lastRoundMs - startMs < 2_000) {
      lastRoundMs = performance.now();
      const round = await Promise.all(servers.map((server) => admitUntilRefused(server)));
      admitted += round.reduce((sum, count) => sum + count, 0);
    }
    const endMs = performance.now();
    assert.ok(admitted <= 600 + (endMs - startMs) / 100, `${admitted} in ${endMs - startMs} ms`);
    assert.ok(admitted >= 600 + (lastRoundMs - startMs) / 100 - 5, `${admitted} in ${lastRoundMs - startMs} ms`);
    await closeAll(servers);
  });
}

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { Redis } from "iovalkey";
import { Client } from "pg";
import type { LedgerAnswer, LedgerRequest } from "../../src/limits/shared/limit-ledger.ts";
import { MemoryLedger } from "../../src/limits/shared/memory-ledger.ts";
import { PostgresLedger } from "../../src/limits/shared/postgres-ledger.ts";
import { exchangeScript } from "../../src/limits/shared/valkey-script.ts";
import { openControlDatabase } from "../../src/tenancy/control-database.ts";
import { startPostgres, type PostgresServer } from "../tenancy/postgres-server.ts";
import { startValkey, type ValkeyServer } from "./valkey-server.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { needs } from "../../../../test/support/needs.ts";

const amount = fc.nat({ max: 40 });
const step = fc.record({
  waitMs: fc.constantFrom(0, 1, 90.25, 499, 500, 1_000, 12_000),
  holder: fc.constantFrom("a", "b", "c"),
  /** The sequence number of the request before, as of a request that arrives late. */
  late: fc.boolean(),
  buckets: fc.array(
    fc.record({
      id: fc.constantFrom(...(["requests", "tokens", "compute"] as const)),
      returned: amount,
      charged: fc.oneof(fc.integer({ min: -40, max: 400 }), fc.constantFrom(0.125, 1.3)),
      demand: amount,
      atLeast: amount,
      spare: amount,
    }),
    { maxLength: 3 },
  ),
  slots: fc.array(
    fc.record({
      id: fc.constantFrom("first", "second"),
      limit: fc.constantFrom(1, 8, 40),
      inUse: amount,
      demand: amount,
      spare: amount,
    }),
    { maxLength: 2 },
  ),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** Of each bucket. When an account is forgotten depends on its limit. */
const limits = { requests: 60, tokens: 600, compute: 1 };

/** Shows that another ledger answers random requests, at the same times, like the one in memory. */
async function compare(runs: number, exchange: (request: LedgerRequest, nowMs: number) => Promise<LedgerAnswer>) {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps: readonly Step[]) => {
      run += 1;
      const clock = { nowMs: 1_764_000_000_000 + run * 10_000_000 };
      const memory = new MemoryLedger(() => clock.nowMs);
      for (const [index, { waitMs, holder, late, buckets, slots }] of steps.entries()) {
        clock.nowMs += waitMs;
        const own = <T extends { readonly id: string }>(items: readonly T[]): T[] => [
          ...new Map(items.map((item) => [item.id, { ...item, id: `${run}:${item.id}` }])).values(),
        ];
        const request: LedgerRequest = {
          holder,
          sequence: late ? index : index + 1,
          leaseMs: 500,
          slotLeaseMs: 10_000,
          buckets: own(buckets.map((each) => ({ ...each, perMinute: limits[each.id] }))) as LedgerRequest["buckets"],
          slots: own(slots),
        };
        const expected = memory.exchangeNow(request);
        const actual = await exchange(request, clock.nowMs);
        assert.deepEqual(actual.slots, expected.slots);
        assertEqualBuckets(actual, expected);
      }
    }),
    { numRuns: runs },
  );
}

/** Clocks of databases have microseconds, so that what has been taken differs a little. */
function assertEqualBuckets(actual: LedgerAnswer, expected: LedgerAnswer): void {
  const granted = ({ buckets }: LedgerAnswer): number[] => buckets.map((bucket) => bucket.granted);
  assert.deepEqual(granted(actual), granted(expected));
  for (const [index, { taken }] of actual.buckets.entries()) {
    const { taken: other } = expected.buckets[index]!;
    assert.ok(Math.abs(taken - other) < 0.001, `${taken} is not ${other}`);
  }
}

describe("Valkey's script", { skip: needs("valkey") }, () => {
  let valkey: ValkeyServer;
  let client: Redis;
  beforeTests(async (stack) => {
    // Of a cluster, so that keys in different hash slots would be refused.
    valkey = stack.use(await startValkey(["--cluster-enabled", "yes"]));
    client = new Redis(valkey.url);
    stack.defer(() => client.disconnect());
    await client.call("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
    while (!String(await client.call("CLUSTER", "INFO")).includes("cluster_state:ok"));
  });

  test("answers like the ledger in memory", async () => {
    const script = exchangeScript.replace("redis.call('TIME')", "cjson.decode(ARGV[2])");
    assert.notEqual(script, exchangeScript);
    await compare(150, async (request, nowMs) => {
      const keys = [...request.buckets, ...request.slots].map(({ id }) => `sounding:{limits}:${id}`);
      const time = JSON.stringify([Math.floor(nowMs / 1000), (nowMs % 1000) * 1000]);
      const answer = (await client.eval(script, keys.length, ...keys, JSON.stringify(request), time)) as string[];
      const pairs = keys.map((_, index) => [Number(answer[2 * index]), Number(answer[2 * index + 1])] as const);
      return {
        buckets: pairs.slice(0, request.buckets.length).map(([granted, taken]) => ({ granted, taken })),
        slots: pairs.slice(request.buckets.length).map(([held, others]) => ({ held, others })),
      };
    });
  });
});

describe("the ledger in Postgres", { skip: needs("postgresql") }, () => {
  let postgres: PostgresServer;
  beforeTests(async (stack) => {
    postgres = stack.use(await startPostgres());
  });

  test("answers like the ledger in memory", async () => {
    const url = await postgres.newDatabase();
    await (await openControlDatabase({ url, dataDirectory: "" })).close();
    const client = new Client({ connectionString: url });
    await client.connect();
    // A clock of the test, which the ledger's connection finds before the database's own.
    await client.query(`
      create schema test_clock;
      create table test_clock.now (at timestamptz);
      insert into test_clock.now values (now());
      create function test_clock.clock_timestamp() returns timestamptz language sql as 'select at from test_clock.now'`);
    const path = encodeURIComponent("-c search_path=test_clock,pg_catalog,public");
    const ledger = new PostgresLedger({ url: `${url}&options=${path}`, timeoutMs: 30_000 });
    await compare(40, async (request, nowMs) => {
      await client.query("update test_clock.now set at = to_timestamp($1::double precision / 1000)", [nowMs]);
      return ledger.exchange(request);
    });
    await ledger.close();
    await client.end();
  });
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Admission } from "../../src/limits/admission.ts";
import type { LimitLedger } from "../../src/limits/shared/limit-ledger.ts";
import { MemoryLedger } from "../../src/limits/shared/memory-ledger.ts";
import { PostgresLedger } from "../../src/limits/shared/postgres-ledger.ts";
import { ValkeyLedger } from "../../src/limits/shared/valkey-ledger.ts";
import { openControlDatabase } from "../../src/tenancy/control-database.ts";
import { startPostgres, type PostgresServer } from "../tenancy/postgres-server.ts";
import {
  admitUntilRefused,
  limitedServer,
  scope,
  untilAdmitted,
  untilRefused,
  type LimitedServer,
} from "./limited-servers.ts";
import { startValkey, type ValkeyServer } from "./valkey-server.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { needs } from "../../../../test/support/needs.ts";
import { isThorough } from "../../../../test/support/property-runs.ts";

/** Nothing here waits for a ledger that long, unless the machine is stalled. */
const timeoutMs = 30_000;

describe("limits shared in memory", () => {
  const ledger = new MemoryLedger();
  define(async () => ledger);
});

describe("limits shared through Valkey", { skip: needs("valkey") }, () => {
  let valkey: ValkeyServer;
  beforeTests(async (stack) => {
    valkey = stack.use(await startValkey());
  });
  define(async () => new ValkeyLedger({ url: valkey.url, timeoutMs }));
});

describe("limits shared through Postgres", { skip: needs("postgresql") }, () => {
  let postgres: PostgresServer;
  let url: string;
  beforeTests(async (stack) => {
    postgres = stack.use(await startPostgres());
    url = await postgres.newDatabase();
    await (await openControlDatabase({ url, dataDirectory: "" })).close();
  });
  define(async () => new PostgresLedger({ url, timeoutMs }));
});

/** Long enough that what the limit gives back meanwhile is more than the tolerance. */
const floodMs = isThorough ? 2_000 : 1_000;

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
    /** What the limit allows after a time. */
    const allowed = (elapsedMs: number): number => 600 + elapsedMs / 100;
    for (;;) {
      const roundMs = performance.now();
      const round = await Promise.all(servers.map((server) => admitUntilRefused(server)));
      admitted += round.reduce((sum, count) => sum + count, 0);
      const elapsedMs = performance.now() - startMs;
      assert.ok(admitted <= allowed(elapsedMs), `${admitted} in ${elapsedMs} ms`);
      // A busy machine may be late with an exchange, but nothing that the limit allows is lost.
      if (elapsedMs >= floodMs && admitted >= allowed(roundMs - startMs) - 5) break;
      assert.ok(elapsedMs < 20_000, `${admitted} in ${elapsedMs} ms`);
    }
    await closeAll(servers);
  });

  test("four servers never run more calls than one limit allows, and use a slot that becomes free", async () => {
    const key = "concurrency";
    const servers = await four({ key: { concurrent_requests: 10 } });
    const running: Admission[] = [];
    const start = async ({ limiter }: LimitedServer): Promise<void> => {
      const calls = Array.from({ length: 5 }, async () => limiter.admit(scope(key), { estimatedTokens: 1 }));
      for (const call of await Promise.allSettled(calls)) if (call.status === "fulfilled") running.push(call.value);
    };
    await Promise.all(servers.map(start));
    assert.equal(running.length, 10);
    running.pop()!.settle();
    running.pop()!.settle();
    // Whoever holds a slot reports that it is free, after which anyone gets it.
    while (running.length < 10) await start(servers[3]!);
    assert.equal(running.length, 10);
    for (const call of running) call.settle();
    await closeAll(servers);
  });

  test("tokens that a call did not use are there for the other servers", async () => {
    const [first, second, ...others] = await four({ key: { tokens_per_minute: 1_000 } });
    const admit = async ({ limiter }: LimitedServer, estimatedTokens: number) =>
      limiter.admit(scope("tokens"), { estimatedTokens });
    const call = await admit(first!, 900);
    await assert.rejects(admit(second!, 500), {
      code: "rate_limited",
      message: /is limited to 1000 tokens per minute/,
    });
    call.settle({ tokens: 50 });
    const later = await untilAdmitted(() => admit(second!, 900));
    later.settle({ tokens: 3_000 });
    await untilRefused(() => admit(first!, 1));
    const usage = await first!.limiter.usageOf({ kind: "key", id: "tokens", limits: {} });
    const tokens = usage.find(({ limit }) => limit === "tokens_per_minute");
    assert.ok(tokens!.used! > 2_900 && tokens!.used! < 3_200, String(tokens!.used));
    await closeAll([first!, second!, ...others]);
  });

  test("compute seconds that one server used up are used up for all", async () => {
    const servers = await four({ key: { compute_seconds_per_minute: 10 } });
    const admit = async ({ limiter }: LimitedServer) => limiter.admitTelemetry(scope("compute"), "query");
    const calls = await Promise.all(servers.map(admit));
    calls[0]!.charge(100);
    await Promise.all(servers.map((server) => untilRefused(() => admit(server))));
    for (const call of calls) call.settle();
    await closeAll(servers);
  });
}

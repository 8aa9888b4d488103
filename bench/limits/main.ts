/**
 * CPU time of an admission with its settlement: without shared limits, and with limits shared through memory, Valkey and
 * Postgres. Every phase makes the same calls at the same rate, so that leases are renewed as in a server under load.
 */
import { parseArgs } from "node:util";
import { setTimeout as delay } from "node:timers/promises";
import type { Admission } from "../../packages/server/src/limits/admission.ts";
import { createLimiter, type Limiter } from "../../packages/server/src/limits/limiter.ts";
import { MonthlyUsage } from "../../packages/server/src/limits/monthly-usage.ts";
import type { LimitLedger } from "../../packages/server/src/limits/shared/limit-ledger.ts";
import { MemoryLedger } from "../../packages/server/src/limits/shared/memory-ledger.ts";
import { PostgresLedger } from "../../packages/server/src/limits/shared/postgres-ledger.ts";
import { SharedLimits } from "../../packages/server/src/limits/shared/shared-limits.ts";
import { ValkeyLedger } from "../../packages/server/src/limits/shared/valkey-ledger.ts";
import { silentLogger } from "../../packages/server/src/logger.ts";
import { openControlDatabase } from "../../packages/server/src/tenancy/control-database.ts";
import { startPostgres } from "../../packages/server/test/tenancy/postgres-server.ts";
import { scope } from "../../packages/server/test/limits/limited-servers.ts";
import { startValkey } from "../../packages/server/test/limits/valkey-server.ts";
import { needs } from "../../test/support/needs.ts";

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const phaseMs = values.quick ? 2_000 : 10_000;
const timeoutMs = 5_000;
/** Calls per second, from how many keys. */
const loads = [
  { callsPerSecond: 1_000, keys: 1 },
  { callsPerSecond: 1_000, keys: 20 },
  { callsPerSecond: 1_000, keys: 1_000 },
];
/** Far from used up, like most limits. */
const limits = { requests_per_minute: 1_000_000, tokens_per_minute: 1_000_000_000, concurrent_requests: 1_000 };

interface Phase {
  readonly name: string;
  readonly cpuMicroseconds: number;
  readonly waited: number;
}

async function measure(name: string, ledger: LimitLedger | undefined, load: (typeof loads)[number]): Promise<Phase> {
  const usage = await MonthlyUsage.open({
    ledger: { add: async () => {}, read: async () => [] },
    logger: silentLogger,
  });
  const shared = ledger && new SharedLimits({ ledger, whenUnreachable: "refuse", timeoutMs, logger: silentLogger });
  const limiter = createLimiter({ defaults: { key: limits, organization: limits }, usage, shared });
  await run(limiter, load, phaseMs / 4);
  const before = process.cpuUsage();
  const { calls, waited } = await run(limiter, load, phaseMs);
  const { user, system } = process.cpuUsage(before);
  await shared?.close();
  await usage.close();
  return { name, cpuMicroseconds: (user + system) / calls, waited: waited / calls };
}

/** Calls every ten milliseconds, which end at the next time. */
async function run(limiter: Limiter, { callsPerSecond, keys }: (typeof loads)[number], durationMs: number) {
  const scopes = Array.from({ length: keys }, (_, index) => scope(`key-${index}`));
  const startMs = performance.now();
  let [calls, waited] = [0, 0];
  while (performance.now() - startMs < durationMs) {
    const due = ((performance.now() - startMs) / 1_000) * callsPerSecond;
    const admitting: Promise<Admission>[] = [];
    for (; calls < due; calls++) {
      const admission = limiter.admit(scopes[calls % keys]!, { estimatedTokens: 100 });
      if (admission instanceof Promise) waited += 1;
      admitting.push(Promise.resolve(admission));
    }
    const admissions = await Promise.all(admitting);
    await delay(10);
    for (const admission of admissions) admission.settle({ tokens: 80 });
  }
  return { calls, waited };
}

const valkey = needs("valkey") ? undefined : await startValkey();
const postgres = needs("postgresql") ? undefined : await startPostgres();
const databaseUrl = await postgres?.newDatabase();
if (databaseUrl !== undefined) await (await openControlDatabase({ url: databaseUrl, dataDirectory: "" })).close();

console.log("| load | limits | CPU per call | more than alone | calls that waited |\n| --- | --- | --- | --- | --- |");
for (const load of loads) {
  const phases = [
    await measure("alone", undefined, load),
    await measure("shared in memory", new MemoryLedger(), load),
    ...(valkey === undefined ? [] : [await measure("Valkey", new ValkeyLedger({ url: valkey.url, timeoutMs }), load)]),
    ...(databaseUrl === undefined
      ? []
      : [await measure("Postgres", new PostgresLedger({ url: databaseUrl, timeoutMs }), load)]),
  ];
  for (const { name, cpuMicroseconds, waited } of phases) {
    const more = (cpuMicroseconds - phases[0]!.cpuMicroseconds).toFixed(1);
    console.log(
      `| ${load.callsPerSecond} calls/s of ${load.keys} keys | ${name} | ${cpuMicroseconds.toFixed(1)} µs | ${more} µs | ${(waited * 100).toFixed(1)} % |`,
    );
  }
}
await valkey?.[Symbol.asyncDispose]();
await postgres?.[Symbol.asyncDispose]();

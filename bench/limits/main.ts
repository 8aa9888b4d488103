/**
 * CPU time of an admission with its settlement: without shared limits, with budgets, and with limits shared through memory, Valkey and
 * Postgres. Every phase makes the same calls at the same rate, so that leases are renewed as in a server under load. The CPU time of
 * Postgres is counted, too.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { setTimeout as delay } from "node:timers/promises";
import type { Admission } from "../../packages/server/src/limits/admission.ts";
import type { Budgets } from "../../packages/server/src/limits/budgets/budgets.ts";
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
import { budgetedCall, measureInLoop, openBudgets } from "./budgets.ts";
import { needs } from "../../test/support/needs.ts";
import { cpuMicros } from "../processes.ts";

const { values } = parseArgs({
  options: { quick: { type: "boolean", default: false }, "only-budgets": { type: "boolean", default: false } },
});
const phaseMs = values.quick ? 2_000 : 10_000;
const timeoutMs = 5_000;
/** Calls per second, from how many keys. */
const loads = [
  { callsPerSecond: 1_000, keys: 1 },
  { callsPerSecond: 1_000, keys: 20 },
  { callsPerSecond: 1_000, keys: 1_000 },
];
/** Far from used up, like most limits. */
const limits = { requests_per_minute: 1_000_000, tokens_per_minute: 1_000_000_000, concurrent_requests: 1_000_000 };

interface Phase {
  readonly name: string;
  readonly cpuMicroseconds: number;
  readonly databaseMicroseconds: number;
  readonly waited: number;
}

interface Counters {
  readonly ledger?: LimitLedger;
  readonly budgets?: Budgets;
}

async function measure(name: string, { budgets, ledger }: Counters, load: (typeof loads)[number]): Promise<Phase> {
  const usage = await MonthlyUsage.open({
    ledger: { add: async () => {}, read: async () => [] },
    logger: silentLogger,
  });
  const shared = ledger && new SharedLimits({ ledger, whenUnreachable: "refuse", timeoutMs, logger: silentLogger });
  const limiter = createLimiter({ defaults: { key: limits, organization: limits }, usage, shared, budgets });
  await run(limiter, load, phaseMs / 4);
  const before = process.cpuUsage();
  const databaseBefore = databaseMicros();
  const { calls, waited } = await run(limiter, load, phaseMs);
  const { user, system } = process.cpuUsage(before);
  const databaseMicroseconds = (databaseMicros() - databaseBefore) / calls;
  await shared?.close();
  await budgets?.close();
  await usage.close();
  return { name, cpuMicroseconds: (user + system) / calls, databaseMicroseconds, waited: waited / calls };
}

function databaseMicros(): number {
  return postgres?.pid === undefined ? 0 : cpuMicros(postgres.pid);
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
      const admission = limiter.admit(scopes[calls % keys]!, { estimatedTokens: 100, call: () => budgetedCall });
      if (admission instanceof Promise) waited += 1;
      admitting.push(Promise.resolve(admission));
    }
    const admissions = await Promise.all(admitting);
    await delay(10);
    for (const admission of admissions) admission.settle({ tokens: 80, cost: { total: 0.000_2 } });
  }
  return { calls, waited };
}

async function compareInLoop(budgets: Budgets): Promise<void> {
  const ledger = { add: async () => {}, read: async () => [] };
  const usage = await MonthlyUsage.open({ ledger, logger: silentLogger });
  const defaults = { key: limits, organization: limits };
  const calls = values.quick ? 50_000 : 200_000;
  const without = await measureInLoop(createLimiter({ defaults, usage }), calls);
  const within = await measureInLoop(createLimiter({ defaults, usage, budgets }), calls);
  await usage.close();
  const more = (within - without).toFixed(1);
  console.log(`In a loop: ${without.toFixed(1)} µs per call, and ${more} µs more with three budgets.\n`);
}

const valkey = values["only-budgets"] || needs("valkey") ? undefined : await startValkey();
const postgres = needs("postgresql") ? undefined : await startPostgres();
const databaseUrl = await postgres?.newDatabase();
const control =
  databaseUrl === undefined ? undefined : await openControlDatabase({ url: databaseUrl, dataDirectory: "" });
const dataDirectory = await mkdtemp(join(tmpdir(), "sounding-bench-"));
const sqlite = await openControlDatabase({ dataDirectory });

const inLoop = await openBudgets(sqlite, true);
await compareInLoop(inLoop);
await inLoop.close();

console.log("| load | limits | CPU per call | more than alone | CPU of Postgres | calls that waited |");
console.log("| --- | --- | --- | --- | --- | --- |");
for (const load of loads) {
  const phases = [
    await measure("alone", {}, load),
    await measure("alone, with three budgets", { budgets: await openBudgets(sqlite, true) }, load),
  ];
  if (!values["only-budgets"]) {
    phases.push(await measure("shared in memory", { ledger: new MemoryLedger() }, load));
    if (valkey !== undefined) {
      phases.push(await measure("Valkey", { ledger: new ValkeyLedger({ url: valkey.url, timeoutMs }) }, load));
    }
    if (databaseUrl !== undefined) {
      phases.push(await measure("Postgres", { ledger: new PostgresLedger({ url: databaseUrl, timeoutMs }) }, load));
    }
  }
  if (control !== undefined) {
    const budgets = await openBudgets(control, false);
    phases.push(await measure("alone, with three budgets in Postgres", { budgets }, load));
  }
  for (const { name, cpuMicroseconds, databaseMicroseconds, waited } of phases) {
    const more = (cpuMicroseconds - phases[0]!.cpuMicroseconds).toFixed(1);
    console.log(
      `| ${load.callsPerSecond} calls/s of ${load.keys} keys | ${name} | ${cpuMicroseconds.toFixed(1)} µs | ${more} µs | ${databaseMicroseconds.toFixed(1)} µs | ${(waited * 100).toFixed(1)} % |`,
    );
  }
}
await sqlite.close();
await control?.close();
await rm(dataDirectory, { recursive: true });
await valkey?.[Symbol.asyncDispose]();
await postgres?.[Symbol.asyncDispose]();

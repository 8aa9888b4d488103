/** How long spend of a month of calls takes, from sums and from spans, and how many sums there are. */
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readSpend } from "../../packages/server/src/query/spend/read-spend.ts";
import { readSpendRequest } from "../../packages/server/src/query/spend/spend-request.ts";
import { bind, callerOrganization, sql } from "../../packages/server/src/store/statement.ts";
import { appendSpans, type SpanRow } from "../../packages/server/test/metrics/telemetry-rows.ts";
import { openTestStore, scopeOf } from "../../packages/server/test/store/test-store.ts";
import { untilRolledUp } from "../../packages/server/test/support/rolled-up.ts";
import { cpuMicros } from "../processes.ts";
import { quantile } from "../quantile.ts";

const { values } = parseArgs({
  options: { calls: { type: "string", default: "300000" }, "only-sums": { type: "boolean", default: false } },
});
const calls = Number(values.calls);
const rounds = 11;
const batchRows = 20_000;
const hourMs = 3_600_000;
const endMs = Math.floor((Date.now() - 600_000) / hourMs) * hourMs;
const monthMs = 30 * 24 * hourMs;

const random = (below: number): number => Math.floor(Math.random() * below);

const hoursPerDay = 1;

/** The same hours of each day: summing an hour takes a while, however few calls it has. */
function workingMs(ms: number): number {
  const dayMs = hoursPerDay * hourMs;
  return Math.floor(ms / dayMs) * 24 * hourMs + Math.floor(ms % dayMs);
}

/** 12 models at 4 engines, 40 keys of 10 projects with three models each, 3,000 users, 25 teams; a tenth of the calls have no price. */
function callAt(index: number): SpanRow {
  const [key, user] = [random(40), random(3000)];
  const model = (key + random(3)) % 12;
  return {
    endMs: endMs - monthMs + workingMs((index / calls) * ((monthMs / 24) * hoursPerDay)) + 1,
    project: `project-${key % 10}`,
    model: `model-${model}`,
    inputTokens: random(20_000),
    outputTokens: random(2000),
    served: true,
    ...(random(10) === 0 ? {} : { costBillionths: random(50_000_000), currency: "USD" }),
    attributes: {
      "sounding.engine": `engine-${model % 4}`,
      "sounding.key.id": `key_${key}`,
      "sounding.key.name": `key ${key}`,
      "user.id": `user-${user}`,
      "sounding.metadata.team": `team-${user % 25}`,
    },
  };
}

const directory = join(tmpdir(), `sounding-bench-spend-${process.pid}`);
await using opened = await openTestStore({ directory, settings: { rollup_delay_ms: 1, query_timeout_ms: 600_000 } });
const { store } = opened;
try {
  for (let first = 0; first < calls; first += batchRows) {
    const rows = Array.from({ length: Math.min(batchRows, calls - first) }, (_, index) => callAt(first + index));
    await appendSpans(store, "org_a", rows);
  }
  const startMs = performance.now();
  await untilRolledUp(store, { source: "spend", organizations: ["org_a"], withinMs: 3_600_000 });
  console.log(`${calls} calls; summed within ${Math.round((performance.now() - startMs) / 1000)} s`);

  const reader = store.open(scopeOf("org_a"));
  const range = { start: new Date(endMs - monthMs).toISOString(), end: new Date(endMs).toISOString() };
  const signal = AbortSignal.timeout(3_600_000);
  for (const query of [
    { by: "model" },
    { by: "day,model", time_zone: "Europe/Berlin" },
    { by: "key,model" },
    { by: "user" },
    { by: "day,tag:team", time_zone: "Asia/Kathmandu" },
    { by: "day", user_id: "user-7" },
  ]) {
    const request = await readSpendRequest({ ...query, ...range }, undefined);
    const measure = async (usesRollups: boolean): Promise<string> => {
      const times: number[] = [];
      const usedMicroseconds = cpuMicros(process.pid);
      const count = usesRollups ? rounds : 3;
      for (let round = 0; round < count; round += 1) {
        const before = performance.now();
        await readSpend({ ...reader, usesRollups }, { ...request, currency: "USD", signal });
        times.push(performance.now() - before);
      }
      const cpuMs = (cpuMicros(process.pid) - usedMicroseconds) / 1000 / count;
      return `${quantile(times, 0.5).toFixed(0)} ms, ${cpuMs.toFixed(0)} ms of CPU time,`;
    };
    const fromSpans = values["only-sums"] ? "" : `; ${await measure(false)} from spans`;
    console.log(`${JSON.stringify(query)}: ${await measure(true)} from sums${fromSpans}`);
  }
  for (const level of [0, 1]) {
    const [found] = await reader.query<{ rows: string }>(
      sql`SELECT count() AS rows FROM spend_quarters WHERE organization = ${callerOrganization} AND is_detailed = ${bind.uint8(level)}`,
      { duplicates: "kept" },
    );
    console.log(`${found!.rows} sums ${level === 1 ? "with" : "without"} users and tags`);
  }
} finally {
  await rm(directory, { recursive: true, force: true });
}

/**
 * Measures what one organization's heavy queries cost another: `npm run bench:fairness` (about 10 minutes), `npm run
 * bench:fairness -- --quick` (2 minutes). An organization sends small queries one after the other: alone, next to one
 * heavy query after the other of a second organization, and next to several at a time. The phases take turns, so that
 * other work on the machine affects all of them alike. `--rows`, `--rounds` and `--seconds` set the size; `--directory`
 * keeps the store for another run. Prints Markdown tables at the end.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Pool } from "undici";
import { openTestStore } from "../../packages/server/test/store/test-store.ts";
import { describeMachine } from "../processes.ts";
import { quantile } from "../quantile.ts";
import { heavyQueries, smallQueries, type Query } from "./queries.ts";
import { writeRows } from "./rows.ts";

const { values: given } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    rows: { type: "string" },
    rounds: { type: "string" },
    seconds: { type: "string" },
    directory: { type: "string" },
  },
});
const rows = Number(given.rows ?? (given.quick ? 200_000 : 2_000_000));
const rounds = Number(given.rounds ?? (given.quick ? 2 : 5));
const seconds = Number(given.seconds ?? (given.quick ? 5 : 15));
/** Of the organization with small queries. */
const smallRows = 20_000;
/** Between two small queries of the measured organization. */
const pauseMs = 20;
const phases = [
  { name: "alone", heavyAtOnce: 0 },
  { name: "next to 1 heavy query at a time", heavyAtOnce: 1 },
  { name: "next to 4 heavy queries at a time", heavyAtOnce: 4 },
] as const;

const root = given.directory ?? mkdtempSync(join(tmpdir(), "sounding-bench-fairness-"));
const log = (text: string): void => void process.stderr.write(`${text}\n`);

async function fill(): Promise<number> {
  const mark = join(root, "filled");
  mkdirSync(root, { recursive: true });
  if (existsSync(mark)) return Number(readFileSync(mark, "utf8"));
  log(`Writing ${rows} spans and as many log records …`);
  const endMs = Math.floor(Date.now() / 1000) * 1000;
  await using opened = await openTestStore({ directory: root });
  await writeRows(opened.store, { organizationId: "heavy", count: rows, endMs });
  await writeRows(opened.store, { organizationId: "small", count: smallRows, endMs });
  writeFileSync(mark, String(endMs));
  return endMs;
}

const endMs = await fill();
const server = fork(join(import.meta.dirname, "server.ts"), [root], { stdio: "inherit" });
const [{ url }] = (await once(server, "message")) as [{ url: string }];
const pool = new Pool(url, { connections: 16, pipelining: 1, headersTimeout: 120_000, bodyTimeout: 120_000 });

/** The milliseconds until the end of the answer. */
async function ask(organization: string, { path, parameters }: Query): Promise<number> {
  const startMs = performance.now();
  const answer = await pool.request({
    method: "GET",
    path: `${path}?${new URLSearchParams(parameters(endMs)).toString()}`,
    headers: { authorization: `Bearer sk-${organization}` },
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${text.slice(0, 300)}`);
  return performance.now() - startMs;
}

interface Measured {
  readonly smallMs: Map<string, number[]>;
  heavy: number;
  refused: number;
}
const measured = new Map<string, Measured>(
  phases.map(({ name }) => [
    name,
    { smallMs: new Map(smallQueries.map((query) => [query.name, []])), heavy: 0, refused: 0 },
  ]),
);

async function runPhase({ heavyAtOnce, name }: (typeof phases)[number], round: number): Promise<void> {
  const untilMs = performance.now() + seconds * 1000;
  const result = measured.get(name)!;
  const flood = Array.from({ length: heavyAtOnce }, async (_, start) => {
    for (let next = start + round; performance.now() < untilMs; next += 1) {
      try {
        await ask("heavy", heavyQueries[next % heavyQueries.length]!);
        result.heavy += 1;
      } catch (error) {
        result.refused += 1;
        log(String(error));
        await sleep(100);
      }
    }
  });
  if (heavyAtOnce > 0) await sleep(300);
  for (let next = 0; performance.now() < untilMs; next += 1) {
    const query = smallQueries[next % smallQueries.length]!;
    result.smallMs.get(query.name)!.push(await ask("small", query));
    await sleep(pauseMs);
  }
  await Promise.all(flood);
}

log("Warming up …");
for (const query of smallQueries) for (let run = 0; run < 5; run += 1) await ask("small", query);
const heavyMs: string[] = [];
for (const query of heavyQueries) heavyMs.push(`| ${query.name} | ${(await ask("heavy", query)).toFixed(0)} |`);
for (let round = 0; round < rounds; round += 1) {
  log(`Round ${round + 1} of ${rounds} …`);
  for (const phase of phases) await runPhase(phase, round);
}
await pool.close();
server.disconnect();
await once(server, "exit");
if (given.directory === undefined) rmSync(root, { recursive: true, force: true });

function cells(name: string, of: (result: Measured) => readonly number[]): string {
  const alone = of(measured.get(phases[0].name)!);
  const others = phases.slice(1).map((phase) => {
    const values = of(measured.get(phase.name)!);
    const [p50, p95] = [0.5, 0.95].map((share) => {
      const ms = quantile(values, share);
      return `${ms.toFixed(0)} (× ${(ms / quantile(alone, share)).toFixed(1)})`;
    });
    return `${p50} | ${p95}`;
  });
  return `| ${name} | ${quantile(alone, 0.5).toFixed(0)} | ${quantile(alone, 0.95).toFixed(0)} | ${others.join(" | ")} |`;
}

process.stdout.write(`
${describeMachine()}; ${rows} spans and log records of the one organization, ${smallRows} of the other.

| heavy query | ms alone |
| --- | ---: |
${heavyMs.join("\n")}

| small query | alone: p50 ms | p95 | ${phases
  .slice(1)
  .map(({ name }) => `${name}: p50 ms | p95`)
  .join(" | ")} |
| --- | ${phases.map(() => "---: | ---:").join(" | ")} |
${smallQueries.map(({ name }) => cells(name, ({ smallMs }) => smallMs.get(name)!)).join("\n")}
${cells("all", ({ smallMs }) => [...smallMs.values()].flat())}

Heavy queries answered: ${phases
  .slice(1)
  .map(({ name }) => `${name} ${measured.get(name)!.heavy}, refused ${measured.get(name)!.refused}`)
  .join("; ")}.
`);

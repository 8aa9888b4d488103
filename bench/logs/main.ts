/**
 * Measures queries of logs through Loki's HTTP API: `npm run bench:logs`, `npm run bench:logs -- --quick`. Fills one server with
 * the embedded store over OTLP and, with `--loki PROGRAM`, a real Loki with the same bytes. Prints Markdown tables at the end.
 *
 * Options: `--records N` of a day (10000000), `--runs N` of each query (20; fewer of those that take seconds), `--loki PROGRAM`.
 */
import { parseArgs } from "node:util";
import { describeMachine } from "../processes.ts";
import { quantile } from "../quantile.ts";
import { needle, needleService, requestsOf } from "./log-records.ts";
import type { LogServer } from "./log-server.ts";
import { startLoki } from "./loki.ts";
import { logQueries, pathOf, type LogQuery } from "./queries.ts";
import { startSounding } from "./sounding.ts";

const { values: given } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    records: { type: "string" },
    runs: { type: "string" },
    loki: { type: "string" },
  },
});
const recordCount = Number(given.records ?? (given.quick ? 300_000 : 10_000_000));
const runs = Number(given.runs ?? (given.quick ? 5 : 20));
/** After these, a query has had enough runs. */
const secondsPerQuery = 15;
const fewestRuns = 3;
const requestsInFlight = 4;

const log = (text: string): void => void process.stderr.write(`${text}\n`);
const whole = (value: number): string => Math.round(value).toLocaleString("en-US").replaceAll(",", " ");
const ms = (value: number): string => (value < 10 ? value.toFixed(1) : whole(value));

interface Filled {
  readonly cpuMicros: number;
  readonly seconds: number;
}

/** Sends the records to one server, in order of time. */
async function fill(server: LogServer, endUnixNano: bigint): Promise<Filled> {
  const startMs = performance.now();
  const cpuBefore = server.cpuMicros();
  const requests = requestsOf({ count: recordCount, endUnixNano });
  const sender = async (): Promise<void> => {
    for (let next = requests.next(); next.done !== true; next = requests.next()) await server.send(next.value.bytes);
  };
  await Promise.all(Array.from({ length: requestsInFlight }, sender));
  const seconds = (performance.now() - startMs) / 1000;
  await server.untilSettled(recordCount);
  log(
    `${server.name} is filled after ${whole(seconds)} s and settled after ${whole((performance.now() - startMs) / 1000)} s`,
  );
  return { cpuMicros: (server.cpuMicros() - cpuBefore) / recordCount, seconds };
}

async function ask(server: LogServer, path: string): Promise<{ readonly text: string; readonly latencyMs: number }> {
  const { latencyMs, status, text } = await server.get(path);
  if (status !== 200) throw new Error(`${server.name} answered ${path} with ${status} ${text.slice(0, 300)}`);
  return { text, latencyMs };
}

interface Measured {
  readonly p50: number;
  readonly p95: number;
  readonly cpuMs: number;
}

/** Two answers are not counted. */
async function measure(server: LogServer, path: string): Promise<Measured> {
  await ask(server, path);
  await ask(server, path);
  const latencies: number[] = [];
  const cpuBefore = server.cpuMicros();
  const endMs = performance.now() + secondsPerQuery * 1000;
  while (latencies.length < runs && (latencies.length < fewestRuns || performance.now() < endMs)) {
    latencies.push((await ask(server, path)).latencyMs);
  }
  const cpuMs = (server.cpuMicros() - cpuBefore) / 1000 / latencies.length;
  return { p50: quantile(latencies, 0.5), p95: quantile(latencies, 0.95), cpuMs };
}

interface Matrix {
  readonly data: { readonly result: readonly { readonly values: readonly (readonly [number, string])[] }[] };
}

/** @throws if a server does not have exactly the records */
async function checkCount(server: LogServer, endUnixNano: bigint): Promise<void> {
  const query = 'sum(count_over_time({service_name=~".+"}[1h]))';
  const path = pathOf(
    { path: "query_range", parameters: { query, step: "3600" }, hours: 25 },
    endUnixNano + 3_600_000_000_000n,
  );
  const { data } = JSON.parse((await ask(server, path)).text) as Matrix;
  const found = data.result.flatMap(({ values }) => values).reduce((sum, [, count]) => sum + Number(count), 0);
  if (found !== recordCount) throw new Error(`${server.name} counts ${found} of ${recordCount} records.`);
}

interface Streams {
  readonly data: { readonly result: readonly { readonly values: readonly (readonly [string, string])[] }[] };
}

/** Of one of the records with the rare text. */
async function requestIdOf(server: LogServer, endUnixNano: bigint): Promise<string> {
  const parameters = { query: `{service_name="${needleService}"} |= "${needle}"`, limit: "1" };
  const { data } = JSON.parse(
    (await ask(server, pathOf({ path: "query_range", parameters, hours: 24 }, endUnixNano))).text,
  ) as Streams;
  const line = data.result[0]?.values[0]?.[1];
  if (line === undefined) throw new Error("No record has the rare text.");
  return (JSON.parse(line) as { request_id: string }).request_id;
}

function rowOf(query: LogQuery, sounding: Measured, loki: Measured | undefined): string {
  const { hours, name, targetMs, targetRatio } = query;
  const ratio = loki === undefined ? undefined : loki.p95 / sounding.p95;
  const targets = [
    ...(targetMs === undefined ? [] : [{ text: `≤ ${targetMs} ms`, reached: sounding.p95 <= targetMs }]),
    ...(targetRatio === undefined || ratio === undefined
      ? []
      : [{ text: `≥ ${targetRatio} ×`, reached: ratio >= targetRatio }]),
  ];
  const theirs = loki === undefined ? [] : [ms(loki.p50), ms(loki.p95), ms(loki.cpuMs), ratio!.toFixed(1)];
  const cells = [
    name,
    `${hours} h`,
    ms(sounding.p50),
    ms(sounding.p95),
    ms(sounding.cpuMs),
    ...theirs,
    targets.map(({ text }) => text).join(", ") || "–",
    targets.length === 0 ? "–" : targets.every(({ reached }) => reached) ? "yes" : "no",
  ];
  return `| ${cells.join(" | ")} |`;
}

function table(heads: readonly string[], rows: readonly string[]): string {
  const rule = heads.map((head, index) => (index === 0 || head === "reached" ? "---" : "--:"));
  return [`| ${heads.join(" | ")} |`, `| ${rule.join(" | ")} |`, ...rows].join("\n");
}

const servers: LogServer[] = [];
try {
  log(`${describeMachine({ bound: false })}; ${recordCount} records`);
  const sounding = await startSounding();
  servers.push(sounding);
  const loki = given.loki === undefined ? undefined : await startLoki(given.loki);
  if (loki !== undefined) servers.push(loki);
  // Grafana aligns the ranges of metric queries to their step.
  const endUnixNano = BigInt(Math.floor(Date.now() / 300_000)) * 300_000_000_000n;
  const filled = new Map<LogServer, Filled>();
  for (const server of servers) {
    filled.set(server, await fill(server, endUnixNano));
    await checkCount(server, endUnixNano);
  }
  const rows: string[] = [];
  for (const query of logQueries(await requestIdOf(sounding, endUnixNano))) {
    const ours = await measure(sounding, pathOf(query, endUnixNano));
    const parameters = query.lokiParameters ?? query.parameters;
    const theirs = loki && (await measure(loki, pathOf({ ...query, parameters }, endUnixNano)));
    rows.push(rowOf(query, ours, theirs));
    log(rows.at(-1)!);
  }
  const fillRows: string[] = [];
  for (const [server, { cpuMicros, seconds }] of filled) {
    const memory = server.memoryBytes() / 1e6;
    const bytes = (await server.storedBytes()) / recordCount;
    const cells = [server.name, whole(recordCount / seconds), cpuMicros.toFixed(1), bytes.toFixed(1), whole(memory)];
    fillRows.push(`| ${cells.join(" | ")} |`);
  }
  const lokiHeads = loki === undefined ? [] : ["Loki p50 ms", "Loki p95 ms", "Loki CPU ms", "Loki p95 ÷ Sounding p95"];
  process.stdout.write(`${describeMachine({ bound: false })}

${whole(recordCount)} records of a day${loki === undefined ? "; Loki was not measured: no program was given with --loki" : ""}.

${table(["query", "range", "Sounding p50 ms", "p95 ms", "CPU ms", ...lokiHeads, "target at p95", "reached"], rows)}

${table(["filling", "records/s", "CPU µs per record, merging included", "bytes per record", "memory at its highest, MB"], fillRows)}
`);
} finally {
  for (const server of servers) await server.stop();
}

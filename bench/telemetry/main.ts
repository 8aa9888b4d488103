/**
 * Measures durable telemetry ingestion and queries: `npm run bench:telemetry` (about half an hour), `npm run
 * bench:telemetry -- --quick` (about a minute). Uses one server with the embedded store, with the load on the same
 * machine over loopback. Prints Markdown tables at the end.
 *
 * Options: `--seconds N` for each phase of load (120), `--rows N` rows of each signal for the queries (10000000),
 * `--connections N` concurrent requests (40), `--journal on|off` (on), `--only alone,together,small,fill,store,redaction` for some phases only.
 */
import { parseArgs } from "node:util";
import { describeMachine } from "../processes.ts";
import { quantile } from "../quantile.ts";
import { ingest, type LoadResult } from "./ingest-load.ts";
import { questionsOf } from "./queries.ts";
import { measureRedaction } from "./redaction.ts";
import { createRequests, type Signal } from "./requests.ts";
import { startMeasuredServer, type MeasuredServer } from "./server.ts";
import { measureStoreAlone, tableSizes } from "./store-alone.ts";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    seconds: { type: "string" },
    rows: { type: "string" },
    connections: { type: "string", default: "40" },
    journal: { type: "string", default: "on" },
    only: { type: "string", default: "alone,together,small,fill,store,redaction" },
  },
});
const phaseSeconds = Number(values.seconds ?? (values.quick ? 5 : 120));
const rowsWanted = Number(values.rows ?? (values.quick ? 200_000 : 10_000_000));
const connections = Number(values.connections);
const phases: ReadonlySet<string> = new Set(values.only.split(","));

const signals: Signal[] = ["traces", "logs", "metrics"];
const units: Record<Signal, string> = { traces: "spans", logs: "log records", metrics: "metric points" };
const aims: Record<Signal, number> = { traces: 80_000, logs: 100_000, metrics: 400_000 };
const rounds = values.quick ? 20 : 100;
const dayMs = 86_400_000;

const rows: string[] = [];
const row = (...cells: (string | number)[]): void => void rows.push(`| ${cells.join(" | ")} |`);
const head = (...cells: string[]): void => {
  rows.push("");
  row(...cells);
  row("---", ...cells.slice(1).map(() => "--:"));
};
const whole = (value: number): string => Math.round(value).toLocaleString("en-US").replaceAll(",", " ");
const megabytes = (bytes: number): string => whole(bytes / 1e6);

function loadRow(name: string, result: LoadResult, aim: string): void {
  const { perSecond, cpuMicros, latenciesMs, refusals } = result;
  const times = [0.5, 0.95].map((q) => whole(quantile(latenciesMs, q)));
  row(name, whole(perSecond), Number.isNaN(cpuMicros) ? "–" : cpuMicros.toFixed(2), ...times, refusals, aim);
}

function during(seconds: number): () => boolean {
  const endMs = performance.now() + seconds * 1000;
  return () => performance.now() < endMs;
}

/** Each signal as fast as possible. */
async function alone(server: MeasuredServer): Promise<void> {
  for (const signal of signals) {
    const result = await ingest(server, createRequests(signal, 1000), { connections, goesOn: during(phaseSeconds) });
    loadRow(`${units[signal]} alone, 1 000 a request`, result, `${whole(aims[signal])}/s`);
  }
}

/** One third of each target rate at the same time, with sequential queries in parallel. */
async function together(server: MeasuredServer): Promise<void> {
  const goesOn = during(phaseSeconds);
  const questions = await questionsOf(server);
  const latencies = new Map<string, number[]>(questions.map(({ name }) => [name, []]));
  const asking = async (): Promise<void> => {
    while (goesOn()) {
      for (const question of questions) latencies.get(question.name)!.push(await question.ask());
    }
  };
  const loads = signals.map((signal) =>
    ingest(server, createRequests(signal, 1000), { connections, goesOn, perSecond: aims[signal] / 3 }),
  );
  const [, ...results] = await Promise.all([asking(), ...loads]);
  for (const [index, signal] of signals.entries()) {
    // Processor time cannot be attributed here.
    const result = { ...results[index]!, cpuMicros: Number.NaN };
    loadRow(`${units[signal]}, all three together, with concurrent queries`, result, `${whole(aims[signal] / 3)}/s`);
  }
  for (const [name, times] of latencies) {
    const quantiles = [0.5, 0.95].map((q) => whole(quantile(times, q)));
    row(`… ${name}, during the inserts`, "–", "–", ...quantiles, 0, "–");
  }
}

/** Requests of twenty spans. */
async function small(server: MeasuredServer): Promise<void> {
  const result = await ingest(server, createRequests("traces", 20), {
    connections: 32,
    goesOn: during(phaseSeconds / 2),
    perSecond: aims.traces / 10,
  });
  loadRow("spans, 20 a request, at a tenth of the aim", result, "p95 50 ms");
}

/** One day of rows, in order of time, over HTTP; then the queries. */
async function fillAndAsk(server: MeasuredServer): Promise<void> {
  for (const signal of signals) {
    let filled = 0;
    const startMs = Date.now() - dayMs;
    const clock = (): number => startMs + dayMs * Math.min(1, filled / rowsWanted);
    const goesOn = (acknowledged: number): boolean => (filled = acknowledged) < rowsWanted;
    await ingest(server, createRequests(signal, 1000, clock), { connections, goesOn });
  }
  await server.untilQuiet();
  head(`query, ${whole(rowsWanted)} spans, log records and points of a day`, "p50 ms", "p95 ms", "aim of p95");
  for (const { name, ask, aim } of await questionsOf(server)) {
    const latencies: number[] = [];
    for (let round = 0; round < rounds; round += 1) latencies.push(await ask());
    row(name, whole(quantile(latencies, 0.5)), whole(quantile(latencies, 0.95)), aim);
  }
}

async function storeAlone(): Promise<void> {
  head("the store alone, groups of 16 000 rows, two at a time", "rows/s", "CPU µs a row");
  for (const signal of signals) {
    const { perSecond, cpuMicros } = await measureStoreAlone(signal, Math.min(30, phaseSeconds));
    row(units[signal], whole(perSecond), cpuMicros.toFixed(2));
  }
}

async function diskRows(directory: string): Promise<void> {
  const sizes = await tableSizes(directory);
  const bytesOf = (table: string): number => sizes.get(table)?.bytes ?? 0;
  head("on the disk", "rows", "MB", "bytes a row", "aim");
  for (const table of ["spans", "logs", "points"]) {
    const count = sizes.get(table)?.rows ?? 0;
    const bytes = bytesOf(table) + (table === "spans" ? bytesOf("trace_index") : 0);
    const name = table === "spans" ? "spans with the index of traces" : table;
    row(name, whole(count), megabytes(bytes), (bytes / count).toFixed(1), table === "spans" ? "80" : "–");
  }
}

async function redactionCost(): Promise<void> {
  head("decoding a record, nothing to redact", "CPU µs", "with the search for all kinds", "×", "aim");
  for (const signal of signals) {
    const { plainMicros, searchedMicros } = await measureRedaction(signal, 2 * rounds);
    const ratio = (searchedMicros / plainMicros).toFixed(2);
    row(units[signal], plainMicros.toFixed(2), searchedMicros.toFixed(2), ratio, "2 µs more");
  }
}

if (phases.has("redaction")) await redactionCost();
if (phases.has("store")) await storeAlone();
const server = await startMeasuredServer({ journal: values.journal });
try {
  head("what", "records/s", "CPU µs a record", "p50 ms", "p95 ms", "refused requests", "aim");
  if (phases.has("alone")) await alone(server);
  if (phases.has("small")) await small(server);
  if (phases.has("together")) await together(server);
  if (phases.has("fill")) await fillAndAsk(server);
  const memory = server.residentBytes();
  head("memory at its highest", "MB", "aim");
  row("the server", megabytes(memory.server), "–");
  row("the store's process", megabytes(memory.store), "–");
  row("together", megabytes(memory.server + memory.store), "1 500");
  await server.stop();
  await diskRows(server.directory);
  process.stdout.write(`${describeMachine({ bound: false })}\n${rows.join("\n")}\n`);
} finally {
  await server.stop();
  server.removeFolder();
}

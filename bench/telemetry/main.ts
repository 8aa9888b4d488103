/**
 * How fast telemetry goes in, durably, and comes out: `npm run bench:telemetry` (about 4 minutes),
 * `npm run bench:telemetry -- --quick` (about one). One server with the embedded store, the load on the same machine,
 * loopback only. Prints Markdown tables at its end.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Pool } from "undici";
import { cpuMicros, describeMachine, firstLine, residentBytes, start, stop } from "../processes.ts";
import { createRequests, type RequestSource, type Signal } from "./requests.ts";

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false }, seconds: { type: "string" } } });
const phaseSeconds = Number(values.seconds ?? (values.quick ? 8 : 40));
const signals: Signal[] = ["traces", "logs", "metrics"];
const units: Record<Signal, string> = { traces: "spans", logs: "log records", metrics: "metric points" };

const directory = mkdtempSync(join(tmpdir(), "sounding-bench-telemetry-"));
const cli = join(import.meta.dirname, "../../packages/cli/src/main.ts");
const command = [process.execPath, cli, "serve", "--json", "--port", "0", "--data-dir", directory] as const;
const server = start({ command: [...command], env: { SOUNDING_LOG_LEVEL: "error" }, measured: false });
const welcome = JSON.parse(await firstLine(server)) as { url: string; firstStart: { key: string } };
const pool = new Pool(welcome.url, { connections: 32, pipelining: 1, headersTimeout: 60_000 });
const authorization = `Bearer ${welcome.firstStart.key}`;

/** Sends one request and waits until it is acknowledged. @returns milliseconds, or undefined when it was refused */
async function send(source: RequestSource): Promise<number | undefined> {
  // The source reuses its buffer; undici may still be writing it when the next request is made.
  const body = Buffer.from(source.next());
  const startMs = performance.now();
  const answer = await pool.request({
    method: "POST",
    path: `/v1/${source.signal}`,
    headers: { authorization, "content-type": "application/x-protobuf" },
    body,
  });
  await answer.body.dump();
  if (answer.statusCode !== 200) await sleep(Number(answer.headers["retry-after"] ?? 1) * 100);
  return answer.statusCode === 200 ? performance.now() - startMs : undefined;
}

interface Ingested {
  readonly perSecond: number;
  readonly microsPerRecord: number;
  readonly refusals: number;
  readonly latenciesMs: readonly number[];
}

/** As fast as `connections` senders can, or at a pace. */
async function ingest(
  source: RequestSource,
  options: { connections: number; seconds: number; perSecond?: number },
): Promise<Ingested> {
  const latenciesMs: number[] = [];
  let refusals = 0;
  const cpuBefore = cpuMicros(server.pid!);
  const startMs = performance.now();
  const endMs = startMs + options.seconds * 1000;
  const pauseMs =
    options.perSecond === undefined ? 0 : (1000 * options.connections * source.recordCount) / options.perSecond;
  const sender = async (): Promise<void> => {
    while (performance.now() < endMs) {
      const latencyMs = await send(source);
      if (latencyMs === undefined) refusals += 1;
      else latenciesMs.push(latencyMs);
      if (pauseMs > 0) await sleep(Math.max(0, pauseMs - (latencyMs ?? 0)));
    }
  };
  await Promise.all(Array.from({ length: options.connections }, sender));
  const seconds = (performance.now() - startMs) / 1000;
  const records = latenciesMs.length * source.recordCount;
  return {
    perSecond: records / seconds,
    microsPerRecord: (cpuMicros(server.pid!) - cpuBefore) / Math.max(1, records),
    refusals,
    latenciesMs,
  };
}

async function query(path: string, body: object): Promise<number> {
  const startMs = performance.now();
  const answer = await pool.request({
    method: "POST",
    path,
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${text.slice(0, 300)}`);
  return performance.now() - startMs;
}

function quantile(numbers: readonly number[], q: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

function folderBytes(path: string): number {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce(
      (sum, entry) => sum + (statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
}

async function untilReady(): Promise<void> {
  for (;;) {
    const answer = await pool.request({ method: "GET", path: "/readyz" });
    const { checks } = (await answer.body.json()) as { checks: Record<string, string> };
    if (Object.values(checks).every((check) => check === "ok")) return;
    await sleep(200);
  }
}

const rows: string[] = [];
const row = (...cells: (string | number)[]): void => void rows.push(`| ${cells.join(" | ")} |`);
const whole = (value: number): string => Math.round(value).toLocaleString("en-US").replaceAll(",", " ");

try {
  await untilReady();
  row("what", "records/s", "server CPU µs a record", "p50 ms", "p95 ms", "refused requests");
  row("---", "--:", "--:", "--:", "--:", "--:");
  const reached: Partial<Record<Signal, number>> = {};
  for (const signal of signals) {
    const alone = await ingest(createRequests(signal, 1000), { connections: 8, seconds: phaseSeconds });
    reached[signal] = alone.perSecond;
    row(
      `${units[signal]} alone, 1 000 a request`,
      whole(alone.perSecond),
      alone.microsPerRecord.toFixed(2),
      whole(quantile(alone.latenciesMs, 0.5)),
      whole(quantile(alone.latenciesMs, 0.95)),
      alone.refusals,
    );
  }
  const small = await ingest(createRequests("traces", 20), {
    connections: 4,
    seconds: phaseSeconds / 2,
    perSecond: reached.traces! / 10,
  });
  row(
    "spans, 20 a request, at a tenth of that load",
    whole(small.perSecond),
    small.microsPerRecord.toFixed(2),
    whole(quantile(small.latenciesMs, 0.5)),
    whole(quantile(small.latenciesMs, 0.95)),
    small.refusals,
  );

  const questions: [name: string, ask: () => Promise<number>][] = [
    [
      "newest 500 log entries, severity and project",
      () => query("/observability/logs", { severity: "error", project_name: "bench", limit: 500 }),
    ],
    [
      "newest 100 traces with all spans",
      () => query("/observability/traces", { trace: "inference_traces", time_window: "1h", limit: 100 }),
    ],
    [
      "an unknown trace by id",
      () => query("/observability/traces", { trace: "all_traces", trace_id: "f".repeat(32), time_window: "24h" }),
    ],
  ];
  rows.push("");
  row("query", "p50 ms", "p95 ms");
  row("---", "--:", "--:");
  for (const [name, ask] of questions) {
    const latencies: number[] = [];
    for (let round = 0; round < 25; round++) latencies.push(await ask());
    row(name, whole(quantile(latencies, 0.5)), whole(quantile(latencies, 0.95)));
  }
  const { highest } = residentBytes(server.pid!);
  process.stdout.write(
    `${describeMachine({ bound: false })}\n\n${rows.join("\n")}\n\nOn disk: ${whole(folderBytes(directory) / 1e6)} MB. The server process at its highest: ${whole(highest / 1e6)} MB (the store's process not counted).\n`,
  );
} finally {
  await pool.close();
  await stop(server);
  rmSync(directory, { recursive: true, force: true });
}

/**
 * Compares the CPU time of batch calls through one process, through several independent servers and through a server of
 * several workers: `npm run bench:workers` (about 3 minutes), with `-- --quick` (1 minute) or `-- --workers 4`. Prints a
 * Markdown table. Uses only loopback.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chatRequest } from "../gateway/chat-request.ts";
import { startSounding, startUpstream, type Contender } from "../gateway/contenders.ts";
import { runLoad } from "../gateway/load.ts";
import { childrenOf, cpuMicros, describeMachine, pinSelf, stop } from "../processes.ts";

const { values } = parseArgs({
  options: { quick: { type: "boolean", default: false }, workers: { type: "string", default: "2" } },
});
const count = Number(values.workers);
const rounds = values.quick ? 5 : 10;
/** Long enough that the calls, not the connections that each round opens, make up the time. */
const roundMs = 3_000;
/** For each process: a process with fewer handles fewer requests per turn of its event loop, and each costs more. */
const connectionsPerProcess = 32;
/** For each process: V8 optimizes what a process has run often. */
const warmUpMs = values.quick ? 4_000 : 12_000;

interface Measured {
  readonly name: string;
  /** Servers that share the load. */
  readonly servers: readonly Contender[];
  /** Workers of each server. */
  readonly workers: number;
  /** CPU time per call in microseconds, of each round. */
  readonly perCall: number[];
  /** Of it, the primary's. */
  readonly primary: number[];
  /** The busiest worker's part of the CPU time of all workers. */
  readonly busiest: number[];
}

pinSelf();
const directory = mkdtempSync(join(tmpdir(), "sounding-bench-"));
process.once("SIGINT", () => process.exit(130));
process.on("exit", () => rmSync(directory, { recursive: true, force: true }));

const upstream = await startUpstream();
const measured: readonly [Measured, Measured, Measured] = [
  await startMeasured("one process", { servers: 1, workers: 1 }),
  await startMeasured(`${count} independent servers`, { servers: count, workers: 1 }),
  await startMeasured(`${count} workers and a primary`, { servers: 1, workers: count }),
];
const machine = describeMachine();
for (const each of measured) await load(each, warmUpMs * each.servers.length * each.workers);
for (let round = 0; round < rounds; round++) for (const each of measured) await measure(each);
for (const { servers } of measured) for (const { child } of servers) await stop(child!);
await stop(upstream.child);

const [single, independent, several] = measured;
/** What the servers or workers carry on as many free cores as there are, in relation to one on one core. */
const gain = (reference: Measured): string =>
  ((count * median(reference.perCall)) / median(several.perCall)).toFixed(2);
process.stdout.write(`
${machine}

| processes | CPU µs per call |
| --- | --- |
${measured.map(({ name, perCall }) => `| ${name} | ${median(perCall).toFixed(0)} |`).join("\n")}

- Of the workers' server, the primary uses ${median(several.primary).toFixed(0)} µs, and the busiest worker ${(median(several.busiest) * 100).toFixed(0)} % of the time of all workers.
- Gain of ${count} workers on free cores: ${gain(independent)} (from independent servers), ${gain(single)} (from one process, which has the core to itself).
`);

async function startMeasured(
  name: string,
  { servers, workers }: { readonly servers: number; readonly workers: number },
): Promise<Measured> {
  const contenders: Contender[] = [];
  for (let number = 1; number <= servers; number++) {
    const own = join(directory, `${name} ${number}`);
    mkdirSync(own);
    const setting = { upstreamPort: upstream.port, directory: own };
    contenders.push(await startSounding(setting, { telemetry: false, workers }));
  }
  return { name, servers: contenders, workers, perCall: [], primary: [], busiest: [] };
}

async function load({ servers, workers }: Measured, durationMs: number): Promise<number> {
  const results = await Promise.all(
    servers.map((server) =>
      runLoad({
        port: server.port,
        request: chatRequest(server, "batch"),
        connections: connectionsPerProcess * workers,
        durationMs,
        thinkMs: 0,
      }),
    ),
  );
  return results.reduce((sum, { answers }) => sum + answers, 0);
}

async function measure(each: Measured): Promise<void> {
  const pids = each.servers.map(({ child }) => child!.pid!);
  const workers = each.workers === 1 ? [] : pids.flatMap(childrenOf);
  const before = [...pids, ...workers].map(cpuMicros);
  const calls = await load(each, roundMs);
  const used = [...pids, ...workers].map((pid, index) => cpuMicros(pid) - before[index]!);
  const all = sum(used.slice(0, pids.length));
  each.perCall.push(all / calls);
  if (workers.length === 0) return;
  const byWorker = used.slice(pids.length);
  each.busiest.push(Math.max(...byWorker) / sum(byWorker));
  each.primary.push((all - sum(byWorker)) / calls);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((left, right) => left - right)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

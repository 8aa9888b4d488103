/**
 * Compares the CPU time of batch calls through one process and through several workers: `npm run bench:workers` (about 2
 * minutes), with `-- --quick` (40 s) or `-- --workers 4`. Prints a Markdown table. Uses only loopback.
 */
import { mkdtempSync, rmSync } from "node:fs";
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
const workers = Number(values.workers);
const rounds = values.quick ? 5 : 20;
/** For each process: a process with fewer handles fewer requests per turn of its event loop, and each costs more. */
const connectionsPerProcess = 32;
/** For each process: V8 optimizes what a process has run often. */
const warmUpMs = values.quick ? 4_000 : 12_000;

interface Measured {
  readonly contender: Contender;
  readonly pid: number;
  /** Processes that take calls. */
  readonly processes: number;
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
const setting = { upstreamPort: upstream.port, directory };
const measured: Measured[] = [];
for (const count of [1, workers]) {
  const contender = await startSounding(setting, { telemetry: false, workers: count });
  measured.push({ contender, pid: contender.child.pid!, processes: count, perCall: [], primary: [], busiest: [] });
}
const machine = describeMachine();
for (const each of measured) await load(each, warmUpMs * each.processes);
for (let round = 0; round < rounds; round++) for (const each of measured) await measure(each);
for (const { contender } of measured) await stop(contender.child!);
await stop(upstream.child);

const [single, several] = measured.map(({ perCall }) => median(perCall)) as [number, number];
const share = median(measured[1]!.busiest);
process.stdout.write(`
${machine}

| processes | CPU µs per call | of it the primary | gain on free cores | busiest worker's share |
| --- | --- | --- | --- | --- |
| one | ${single.toFixed(0)} | – | 1 | – |
| ${workers} workers and a primary | ${several.toFixed(0)} | ${median(measured[1]!.primary).toFixed(0)} | ${((workers * single) / several).toFixed(2)} | ${(share * 100).toFixed(0)} % |
`);

async function load({ contender, processes }: Measured, durationMs: number): Promise<number> {
  const request = chatRequest(contender, "batch");
  const connections = connectionsPerProcess * processes;
  return (await runLoad({ port: contender.port, request, connections, durationMs, thinkMs: 0 })).answers;
}

async function measure(server: Measured): Promise<void> {
  const { pid, perCall, primary, busiest } = server;
  const pids = childrenOf(pid);
  const before = [pid, ...pids].map(cpuMicros);
  const calls = await load(server, 1_000);
  const [all = 0, ...each] = [pid, ...pids].map((one, index) => cpuMicros(one) - before[index]!);
  perCall.push(all / calls);
  if (each.length === 0) return;
  const sum = each.reduce((total, micros) => total + micros, 0);
  busiest.push(Math.max(...each) / sum);
  primary.push((all - sum) / calls);
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((left, right) => left - right)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

/**
 * Measures the cost of a call through Sounding and other gateways, with the same load in the same run: `npm run
 * bench:gateway` (about 15 minutes), `npm run bench:gateway -- --quick` (about five). Prints Markdown tables at the end.
 * Uses only loopback, except that the first run installs Portkey's gateway from npm, and LiteLLM's proxy from PyPI.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { cpuMicros, describeMachine, pinSelf, stop } from "../processes.ts";
import { apis } from "./apis.ts";
import { longCall, smallCall, type Call, type Prompt } from "./chat-request.ts";
import {
  direct,
  startBareRelay,
  startLiteLlm,
  startNginx,
  startPortkey,
  startSounding,
  startUpstream,
  type Contender,
} from "./contenders.ts";
import { runLoad, type LoadResult } from "./load.ts";
import { apiTable, cpuTable, latencyTable, type Measurement, promptTables } from "./report.ts";
import { eventsPerStream } from "./wire.ts";

interface Phase extends Call {
  readonly name: string;
  readonly connections: number;
  readonly thinkMs: number;
  readonly prompt?: Prompt;
}

/** The phases of a round. Phases without think time saturate the core; the others measure latency. */
const phases: readonly Phase[] = [
  { name: "batch", mode: "batch", connections: 32, thinkMs: 0 },
  { name: "paced", mode: "paced", connections: 64, thinkMs: 0 },
  { name: "burst", mode: "burst", connections: 16, thinkMs: 0 },
  { name: "batch_latency", mode: "batch", connections: 8, thinkMs: 20 },
  { name: "stream_latency", mode: "paced", connections: 8, thinkMs: 20 },
  ...(["responses", "messages"] as const).flatMap((api) =>
    [true, false].flatMap((isNative) => {
      const suffix = `${api}${isNative ? "" : "_translated"}`;
      return [
        { name: `batch_${suffix}`, mode: "batch", api, isNative, connections: 32, thinkMs: 0 },
        { name: `burst_${suffix}`, mode: "burst", api, isNative, connections: 16, thinkMs: 0 },
      ];
    }),
  ),
  ...apis.flatMap((api) =>
    (["text_1mb", "images_20mb", "conversation_200"] as const).map((prompt) => {
      const connections = { text_1mb: 2, images_20mb: 1, conversation_200: 4 }[prompt];
      return { name: `${prompt}_${api}`, mode: "batch", api, isNative: true, connections, thinkMs: 0, prompt };
    }),
  ),
];

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    /** Measure only contenders whose names contain one of these parts, separated by commas. */
    only: { type: "string" },
    /** Measure only these phases, separated by commas. */
    phase: { type: "string" },
    /** Length of a phase. */
    seconds: { type: "string" },
    /** Node flags for Sounding's process, separated by spaces; for profiling. */
    node: { type: "string", default: "" },
  },
});
const isMeasured = ({ name }: { name: string }) => values.phase?.split(",").includes(name) ?? true;
/** Many short rounds, so that other load on the machine affects all contenders equally. */
const rounds = values.quick ? 2 : 10;
const phaseMs = values.seconds === undefined ? 1_000 : Number(values.seconds) * 1_000;
/** Warm-up before each kind of load, as a number of calls or a time; otherwise the JIT compiler would be measured. */
const warmUp = values.quick ? { answers: 8_000, longestMs: 8_000 } : { answers: 20_000, longestMs: 15_000 };

/** What only Sounding and the relay do is not measured for the others. */
const isPossible = ({ apis: all }: Contender, { api = "chat", isNative, prompt }: Phase): boolean =>
  api === "chat" || (all !== "chat" && (isNative === true || all === "translated" || prompt !== undefined));

/** Requests of 20 MB are encoded once. */
const longRequests = new Map<string, Buffer>();

pinSelf();
const directory = mkdtempSync(join(tmpdir(), "sounding-bench-"));
process.once("SIGINT", () => process.exit(130));
process.on("exit", () => rmSync(directory, { recursive: true, force: true }));

const upstream = await startUpstream();
const contenders = await startContenders();
const measurements: Measurement[] = [];
const machine = describeMachine();
for (const contender of contenders) await warm(contender);
for (let round = 0; round < rounds; round++) {
  for (const contender of contenders) {
    for (const phase of measuredOf(contender)) measurements.push(await measure(contender, phase));
  }
  process.stderr.write(`round ${round + 1} of ${rounds}\n`);
}
for (const { child } of contenders) if (child !== undefined) await stop(child);
await stop(upstream.child);
process.stdout.write(
  `\n${machine}\n\n${cpuTable(measurements)}\n\n${latencyTable(measurements)}\n\n${apiTable(measurements)}\n\n${promptTables(measurements)}\n`,
);

async function startContenders(): Promise<Contender[]> {
  const setting = { upstreamPort: upstream.port, directory };
  const wanted = values.only?.split(",").map((word) => word.toLowerCase());
  const isWanted = (name: string) => wanted === undefined || wanted.some((word) => name.includes(word));
  const flags = values.node.split(" ").filter((flag) => flag !== "");
  const all = [
    isWanted("direct") && direct(setting),
    isWanted("nginx") && (await startNginx(setting)),
    isWanted("bare") && (await startBareRelay(setting)),
    isWanted("sounding") && (await startSounding(setting, { telemetry: false, flags })),
    isWanted("recording") && (await startSounding(setting, { telemetry: true, flags })),
    isWanted("litellm") && (await startLiteLlm(setting, join(tmpdir(), "sounding-bench-litellm"))),
    isWanted("portkey") && (await startPortkey(setting, join(tmpdir(), "sounding-bench-portkey-1.15.2"))),
  ];
  if (all[1] === undefined) process.stderr.write("nginx is not installed; skipping it.\n");
  if (all[5] === undefined) process.stderr.write("LiteLLM's proxy could not be installed; skipping it.\n");
  if (all[6] === undefined) process.stderr.write("Portkey's gateway could not be installed; skipping it.\n");
  return all.filter((contender) => contender !== false && contender !== undefined);
}

async function warm(contender: Contender): Promise<void> {
  if (contender.child === undefined) return;
  for (const phase of measuredOf(contender).filter(({ thinkMs }) => thinkMs === 0)) {
    // The code of calls is warm after the first three.
    const longestMs = phases.indexOf(phase) < 3 ? warmUp.longestMs : warmUp.longestMs / 4;
    const end = performance.now() + longestMs;
    const wanted = phase.mode === "batch" ? warmUp.answers : warmUp.answers / eventsPerStream;
    for (let answers = 0; answers < wanted && performance.now() < end;) {
      answers += (await run(contender, { ...phase, durationMs: 500 })).answers;
    }
  }
}

async function measure(contender: Contender, phase: Phase): Promise<Measurement> {
  const pid = contender.child?.pid;
  const before = pid === undefined ? 0 : cpuMicros(pid);
  const result = await run(contender, { ...phase, durationMs: phaseMs });
  const cpu = pid === undefined ? Number.NaN : (cpuMicros(pid) - before) / result.answers;
  const { length } = requestOf(contender, phase);
  return { contender: contender.name, phase: phase.name, cpuMicros: cpu, requestBytes: length, result };
}

function run(contender: Contender, phase: Phase & { durationMs: number }): Promise<LoadResult> {
  const { connections, durationMs, thinkMs } = phase;
  return runLoad({ connections, durationMs, thinkMs, port: contender.port, request: requestOf(contender, phase) });
}

function measuredOf(contender: Contender): Phase[] {
  return phases.filter((phase) => isMeasured(phase) && isPossible(contender, phase));
}

function requestOf(contender: Contender, phase: Phase): Buffer {
  const { prompt } = phase;
  if (prompt === undefined) return smallCall(contender, phase);
  const name = `${contender.name} ${phase.name}`;
  let request = longRequests.get(name);
  if (request === undefined) longRequests.set(name, (request = longCall(contender, { ...phase, prompt })));
  return request;
}

/**
 * Measures the memory that calls need: `npm run bench:memory` (about a minute). Covers a thousand idle streams, a
 * thousand active streams, and one body of 16 MiB sent to an engine that has not responded yet. Prints Markdown tables
 * at the end. All numbers except the peak are taken after a full garbage collection.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startSounding, startUpstream } from "../gateway/contenders.ts";
import { chatRequest } from "../gateway/chat-request.ts";
import { describeMachine, residentBytes, stop } from "../processes.ts";

const streams = 1_000;
const bodyBytes = 16 * 1024 * 1024;

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const flowSeconds = values.quick ? 10 : 30;

const directory = mkdtempSync(join(tmpdir(), "sounding-bench-"));
process.once("SIGINT", () => process.exit(130));
process.on("exit", () => rmSync(directory, { recursive: true, force: true }));

interface Memory {
  readonly resident: number;
  readonly heap: number;
  /** Outside the JavaScript heap: buffers. */
  readonly external: number;
}

const upstream = await startUpstream();
const collectOnSignal = join(import.meta.dirname, "collect-on-signal.ts");
const sounding = await startSounding(
  { upstreamPort: upstream.port, directory },
  { telemetry: false, flags: ["--expose-gc", "--import", collectOnSignal] },
);
const pid = sounding.child.pid!;
const machine = describeMachine();
const rows: string[][] = [];

// Warm up code, caches and connections before comparing.
await closeAll(await openStreams("idle", streams));
const before = await measure();
rows.push(["before", ...cells(before)]);

const idle = await openStreams("idle", streams);
const silent = await measure();
rows.push([`${streams} silent streams`, ...cells(silent)]);
await closeAll(idle);
rows.push(["after them", ...cells(await measure())]);

const flow = keepFlowing();
for (let part = 1; part <= 3; part++) {
  await sleep((flowSeconds * 1000) / 3);
  rows.push([`${streams} flowing streams, ${Math.round((flowSeconds * part) / 3)} s`, ...cells(await measure())]);
}
await flow.stop();

const [caller] = await openStreams("idle", 1, largeBody());
const withBody = await measure();
rows.push(["16 MiB body, engine not done", ...cells(withBody)]);
await closeAll([caller!]);
const afterBody = await measure();
rows.push(["after it", ...cells(afterBody)]);
const { highest } = residentBytes(pid);
await stop(sounding.child);
await stop(upstream.child);

const perStream = (name: keyof Memory): string => `${((silent[name] - before[name]) / streams / 1024).toFixed(1)} KiB`;
const perBody = (name: keyof Memory): string => `${mebibytes(withBody[name] - afterBody[name])} MiB`;
process.stdout.write(`
${machine}

| | resident MiB | heap MiB | external MiB |
| --- | ---: | ---: | ---: |
${rows.map((row) => `| ${row.join(" | ")} |`).join("\n")}

A silent stream: ${perStream("heap")} of heap, ${perStream("external")} external, ${perStream("resident")} resident.
A body of 16 MiB: ${perBody("external")} external, ${perBody("heap")} of heap. Highest resident of all: ${mebibytes(highest)} MiB.
`);

function mebibytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}

function cells({ resident, heap, external }: Memory): string[] {
  return [resident, heap, external].map(mebibytes);
}

/** Measured after a full collection. */
async function measure(): Promise<Memory> {
  process.kill(pid, "SIGUSR2");
  await sleep(1_500);
  const response = await fetch(`http://127.0.0.1:${sounding.port}/metrics`);
  const text = await response.text();
  const read = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
  return {
    resident: residentBytes(pid).now,
    heap: read("nodejs_heap_size_used_bytes"),
    external: read("nodejs_external_memory_bytes"),
  };
}

/** Clients whose streams have all started. */
async function openStreams(mode: string, count: number, body?: string): Promise<Socket[]> {
  const request = chatRequest(sounding, mode, body);
  const sockets: Socket[] = [];
  const open = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect({ port: sounding.port, host: "127.0.0.1" }, () => socket.write(request));
      sockets.push(socket);
      socket.once("data", (bytes: Buffer) => {
        if (bytes.toString("latin1", 9, 12) === "200") resolve();
        else reject(new Error(bytes.toString()));
        socket.resume();
      });
      socket.once("error", reject);
    });
  for (let begun = 0; begun < count; begun += 50) await Promise.all(Array.from({ length: Math.min(50, count) }, open));
  return sockets;
}

async function closeAll(sockets: readonly Socket[]): Promise<void> {
  for (const socket of sockets) socket.destroy();
  await sleep(1_000);
}

/** One client per stream; each starts its next stream when one has ended. */
function keepFlowing() {
  const request = chatRequest(sounding, "steady");
  const sockets = Array.from({ length: streams }, () => {
    const socket = connect({ port: sounding.port, host: "127.0.0.1" }, () => socket.write(request));
    socket.on("data", (bytes: Buffer) => {
      if (bytes.includes("data: [DONE]")) setImmediate(() => socket.write(request));
    });
    socket.on("error", () => socket.destroy());
    return socket;
  });
  return { stop: () => closeAll(sockets) };
}

function largeBody(): string {
  const frame = JSON.stringify({
    model: sounding.model("idle"),
    stream: true,
    messages: [{ role: "user", content: "" }],
  });
  const text = "All work and no play makes a long body. ";
  const content = text.repeat(Math.ceil(bodyBytes / text.length)).slice(0, bodyBytes - frame.length);
  return frame.replace('"content":""', () => `"content":"${content}"`);
}

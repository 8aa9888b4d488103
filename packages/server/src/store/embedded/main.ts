/**
 * Entry of the embedded store's own process: opens the engine and serves it on a socket, and ends when the server says
 * so or is gone, however that ended.
 */
import { mkdir, rm } from "node:fs/promises";
import { listenToParent, sendToParent } from "../../child-process/parent-channel.ts";
import { openEngine, type Engine } from "./engine.ts";
import { startHost, type Host } from "./host.ts";
import type { EngineSettings, FromEngine, ToEngine } from "./protocol.ts";

let engine: Engine | undefined;
let host: Host | undefined;
let stopping = false;

const send: (message: FromEngine) => void = sendToParent;

async function loadLibrary(): Promise<typeof import("chdb") | undefined> {
  try {
    return await import("chdb");
  } catch (error) {
    send({ type: "absent", reason: error instanceof Error ? error.message.split("\n")[0]! : String(error) });
    return undefined;
  }
}

async function start(settings: EngineSettings): Promise<void> {
  const library = await loadLibrary();
  if (library === undefined) return;
  try {
    await mkdir(settings.dataDirectory, { recursive: true, mode: 0o700 });
    engine = await openEngine({ library, configurationFile: `${settings.dataDirectory}.xml`, ...settings });
    // The data directory is ours alone now. What lies there was on its way when an earlier process ended: it was not acknowledged.
    await rm(settings.spoolDirectory, { recursive: true, force: true });
    await mkdir(settings.spoolDirectory, { recursive: true, mode: 0o700 });
    host = await startHost({ engine, ...settings });
    send({ type: "ready", version: engine.version });
  } catch (error) {
    send({ type: "failed", reason: error instanceof Error ? error.message : String(error) });
  }
}

/** No more requests, statements stopped and waited for, the engine let go: leaving earlier crashes in native code. */
async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  try {
    await host?.close();
    await engine?.close();
  } finally {
    process.exit(0);
  }
}

process.umask(0o077);
let started: Promise<void> = Promise.resolve();
const stopAfterStart = (): void => void started.then(stop);
listenToParent((message: ToEngine) => {
  if (message.type === "start") started = start(message.settings);
  else stopAfterStart();
}, stopAfterStart);

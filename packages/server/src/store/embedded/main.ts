/**
 * Entry point of the embedded store's process: opens the engine, serves it on a socket, and exits when the server says so or
 * has exited.
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

/** An orderly end waits for statements. The server kills this process; what was not inserted is in the journal. */
const giveUp = (reason: string): void => send({ type: "unusable", reason });

async function start(settings: EngineSettings): Promise<void> {
  const library = await loadLibrary();
  if (library === undefined) return;
  try {
    await mkdir(settings.dataDirectory, { recursive: true, mode: 0o700 });
    engine = await openEngine({
      library,
      configurationFile: `${settings.dataDirectory}.xml`,
      ...settings,
      stuck: () => giveUp("statements that were stopped do not end"),
    });
    // We hold the data directory now. Files left in the spool were never acknowledged by the earlier process.
    await rm(settings.spoolDirectory, { recursive: true, force: true });
    await mkdir(settings.spoolDirectory, { recursive: true, mode: 0o700 });
    host = await startHost({
      engine,
      ...settings,
      exhausted: () => giveUp("no memory is left for statements"),
    });
    send({ type: "ready", version: engine.version });
  } catch (error) {
    send({ type: "failed", reason: error instanceof Error ? error.message : String(error) });
  }
}

/** Stops requests and statements and releases the engine first: exiting earlier crashes in native code. */
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

/** One running process of the embedded store: started, and ended by asking or by force. */
import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { keepLastOutput, scriptBeside } from "../../child-process/subprocess.ts";
import type { EngineSettings, FromEngine, ToEngine } from "./protocol.ts";

export interface EngineProcess {
  readonly pid: number;
  readonly version: string;
  /** Resolves, with how, when the process has ended for whatever reason. */
  readonly ended: Promise<string>;
  /** Lets running statements be stopped and the data directory be let go; by force after some seconds. */
  stop(): Promise<void>;
  kill(): void;
}

/** The engine's package is missing: starting again cannot help. */
export class EngineAbsentError extends Error {
  override readonly name = "EngineAbsentError";
}

const entry = fileURLToPath(scriptBeside(import.meta.url, "main"));

/** Opening many parts takes a second for three thousand; a disk that is cold or busy takes longer. */
const startTimeoutMs = 60_000;
const stopTimeoutMs = 15_000;

/** libuv's threads serve statements and files; the environment holds nothing else, least of all secrets. */
const environment = { UV_THREADPOOL_SIZE: "16", TZ: "UTC" };

/** Resolves when the engine serves its socket. @throws EngineAbsentError, or Error with the reason */
async function ready(child: ChildProcess, ended: Promise<string>, lastOutput: () => string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const timer = setTimeout(
    () => reject(new Error(`The embedded store did not start within ${startTimeoutMs} ms.`)),
    startTimeoutMs,
  );
  child.on("message", (message: FromEngine) => {
    switch (message.type) {
      case "ready":
        resolve(message.version);
        return;
      case "absent":
        reject(new EngineAbsentError(message.reason));
        return;
      case "failed":
        reject(new Error(message.reason));
    }
  });
  void ended.then((how) =>
    reject(new Error(`The embedded store's process ended at its start (${how}). ${lastOutput()}`)),
  );
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}

/** @throws EngineAbsentError, or Error with the reason */
export async function startEngineProcess(settings: EngineSettings): Promise<EngineProcess> {
  const child = fork(entry, [], { execArgv: [], env: environment, stdio: ["ignore", "ignore", "pipe", "ipc"] });
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  child.once("exit", (code, signal) => resolve(signal ?? `code ${code}`));
  child.once("error", (error) => resolve(error.message));
  const send = (message: ToEngine): void => {
    // A channel that has closed is noticed by the exit that follows it.
    if (child.connected) child.send(message, () => {});
  };
  send({ type: "start", settings });
  try {
    const version = await ready(child, ended, keepLastOutput(child));
    return {
      pid: child.pid!,
      version,
      ended,
      async stop() {
        send({ type: "stop" });
        const timer = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
        await ended;
        clearTimeout(timer);
      },
      kill: () => void child.kill("SIGKILL"),
    };
  } catch (error) {
    child.kill("SIGKILL");
    await ended;
    throw error;
  }
}

/** One running process of the embedded store: started, and ended gracefully or by force. */
import { IpcProcess } from "../../child-process/ipc-process.ts";
import { siblingScript } from "../../child-process/sibling-script.ts";
import type { EngineSettings, FromEngine, ToEngine } from "./protocol.ts";

export interface EngineProcess {
  readonly pid: number;
  readonly version: string;
  /** Resolves with how the process ended: a signal, an exit code, or why it could not go on. */
  readonly ended: Promise<string>;
  /** Lets running statements stop and releases the data directory; kills the process after some seconds. */
  stop(): Promise<void>;
  kill(): void;
}

/** The engine's package is missing: another start cannot help. */
export class EngineAbsentError extends Error {
  override readonly name = "EngineAbsentError";
}

const script = siblingScript(import.meta.url, "main");

/** To open 3,000 parts takes a second; a cold or busy disk takes longer. */
const startTimeoutMs = 60_000;
const stopTimeoutMs = 15_000;

const environment = {
  // libuv's threads serve statements and files.
  UV_THREADPOOL_SIZE: "20",
  TZ: "UTC",
  // Results are allocated by glibc, which by default keeps freed buffers of up to 32 MiB for each thread.
  // https://man7.org/linux/man-pages/man3/mallopt.3.html
  MALLOC_MMAP_THRESHOLD_: "262144",
  MALLOC_TRIM_THRESHOLD_: "1048576",
};

/** The engine's version. @throws EngineAbsentError, or Error with the reason */
function readVersion(message: FromEngine): string | undefined {
  if (message.type === "ready") return message.version;
  if (message.type === "unusable") return undefined;
  throw message.type === "absent" ? new EngineAbsentError(message.reason) : new Error(message.reason);
}

/** Resolves when the engine serves its socket. @throws EngineAbsentError, or Error with the reason */
export async function startEngineProcess(settings: EngineSettings): Promise<EngineProcess> {
  const process = new IpcProcess<ToEngine, FromEngine>({ script, environment });
  let unusable: string | undefined;
  process.listen((message) => {
    if (message.type !== "unusable") return;
    unusable = message.reason;
    process.kill();
  });
  try {
    const version = await process.start({ type: "start", settings }, readVersion, {
      timeoutMs: startTimeoutMs,
      timedOut: () => new Error(`The embedded store did not start within ${startTimeoutMs} ms.`),
      ended: ({ how }) => new Error(`The embedded store's process exited at startup (${how}). ${process.lastOutput}`),
    });
    return {
      pid: process.pid!,
      version,
      ended: process.ended.then(({ how }) => unusable ?? how),
      stop: () => process.stop({ type: "stop" }, stopTimeoutMs),
      kill: () => process.kill(),
    };
  } catch (error) {
    // The next process needs the data directory.
    await process.ended;
    throw error;
  }
}

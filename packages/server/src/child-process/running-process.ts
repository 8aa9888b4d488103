/** Watches a child process from its start to its end: whether it becomes ready in time, how it ends and its last output. */
import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { onAbort } from "../abort.ts";

export interface ProcessEnd {
  /** `SIGKILL`, `code 1`, or why it could not be started. */
  readonly how: string;
  /** Set if the process could not be started. */
  readonly error: Error | undefined;
}

export interface StartLimits {
  readonly timeoutMs: number;
  /** Aborts the start. */
  readonly signal?: AbortSignal;
  timedOut(): Error;
  ended(end: ProcessEnd): Error;
}

export class RunningProcess {
  /** Resolves when the process has ended and all of its output is read. */
  readonly ended: Promise<ProcessEnd>;
  readonly #child: ChildProcess;
  #output = Buffer.alloc(0);

  /** @param outputBytes how much of the end of standard error to keep, where native code reports why it crashed */
  constructor(child: ChildProcess, outputBytes = 2_000) {
    this.#child = child;
    // Bytes, because decoding what is only passed on would be most of the work of the workers' primary.
    child.stderr?.on("data", (bytes: Buffer) => {
      this.#output = Buffer.concat([this.#output, bytes.subarray(-outputBytes)]).subarray(-outputBytes);
    });
    const { promise, resolve } = Promise.withResolvers<ProcessEnd>();
    this.ended = promise;
    child.once("close", (code, signal) => resolve({ how: signal ?? `code ${code}`, error: undefined }));
    child.once("error", (error) => resolve({ how: error.message, error }));
  }

  /** Undefined if the process could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** The end of what the process wrote to standard error. */
  get lastOutput(): string {
    // The first character may have been cut.
    return this.#output
      .toString()
      .replace(/^\uFFFD+/u, "")
      .trim();
  }

  /**
   * Waits until the process is ready. Kills it if it is not ready in time or the start fails.
   * @throws the error of `limits`, the signal's reason, or whatever `ready` rejects with
   */
  async started<Ready>(ready: Promise<Ready>, { timeoutMs, signal, timedOut, ended }: StartLimits): Promise<Ready> {
    const failure = Promise.withResolvers<never>();
    const timer = setTimeout(() => failure.reject(timedOut()), timeoutMs);
    using _listener = signal && onAbort(signal, () => failure.reject(signal.reason));
    void this.ended.then((end) => failure.reject(ended(end)));
    try {
      return await Promise.race([ready, failure.promise]);
    } catch (error) {
      this.kill();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Keeps the server running until the process ends. */
  ref(): void {
    for (const handle of this.#handles) handle.ref();
  }

  /** Lets the server exit while the process runs. */
  unref(): void {
    for (const handle of this.#handles) handle.unref();
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  /** What Node's event loop waits for. */
  get #handles(): readonly { ref(): void; unref(): void }[] {
    const pipes = this.#child.stdio as readonly (Socket | null | undefined)[];
    return [this.#child, this.#child.channel, ...pipes].filter((handle) => handle != null);
  }
}

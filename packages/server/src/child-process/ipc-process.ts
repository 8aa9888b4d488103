/**
 * Runs one of the server's own scripts as a child process that exchanges messages with it over Node's IPC channel.
 * A crash of native code ends only that process.
 */
import { fork, type ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { compileCacheEnvironment } from "./compile-cache.ts";
import { RunningProcess, type StartLimits } from "./running-process.ts";

export interface IpcProcessOptions {
  readonly script: URL;
  /**
   * The environment of the process, so that it holds none of the server's secrets. Only the folder of compiled modules is
   * added.
   */
  readonly environment: Readonly<Record<string, string>>;
  /** `advanced` transmits typed arrays. */
  readonly serialization?: "json" | "advanced";
  /** See `RunningProcess`. */
  readonly outputBytes?: number;
  /** Options of Node; none if absent. */
  readonly nodeOptions?: readonly string[];
}

export class IpcProcess<Outgoing extends object, Incoming extends object> extends RunningProcess {
  /** Resolves when the process can no longer be reached, which is at the latest when it ends. */
  readonly disconnected: Promise<void>;
  readonly #child: ChildProcess;

  constructor(options: IpcProcessOptions) {
    const { script, environment, serialization = "json", outputBytes, nodeOptions = [] } = options;
    const child = fork(fileURLToPath(script), [], {
      execArgv: [...nodeOptions],
      env: { ...compileCacheEnvironment(), ...environment },
      serialization,
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    super(child, outputBytes);
    this.#child = child;
    this.disconnected = new Promise((resolve) => child.once("disconnect", resolve));
  }

  get isConnected(): boolean {
    return this.#child.connected;
  }

  send(message: Outgoing): void {
    // After the channel has closed, `ended` reports the end of the process.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  /** Sends a connection with a message. It stays open in this process as well. */
  sendSocket(message: Outgoing, socket: Socket): void {
    if (this.#child.connected) this.#child.send(message, socket, { keepOpen: true }, () => {});
  }

  listen(listener: (message: Incoming) => void): void {
    this.#child.on("message", listener);
  }

  /** Calls the listener with what the process writes to standard error. */
  onOutput(listener: (bytes: Buffer) => void): void {
    this.#child.stderr?.on("data", listener);
  }

  /**
   * Sends the first message and waits for the answer to it. Kills the process if there is none in time.
   * @param readAnswer returns undefined for messages that are not the answer; throws if the answer is a failure
   * @throws what `readAnswer` throws, an error of `limits`, or the signal's reason
   */
  async start<Answer>(
    message: Outgoing,
    readAnswer: (message: Incoming) => Answer | undefined,
    limits: StartLimits,
  ): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const listener = (incoming: Incoming): void => {
      try {
        const answer = readAnswer(incoming);
        if (answer !== undefined) resolve(answer);
      } catch (error) {
        reject(error);
      }
    };
    this.#child.on("message", listener);
    this.send(message);
    try {
      return await this.started(promise, limits);
    } finally {
      this.#child.off("message", listener);
    }
  }

  /** Sends the last message, waits for the end, and kills the process after `timeoutMs`. */
  async stop(message: Outgoing, timeoutMs: number): Promise<void> {
    this.send(message);
    const timer = setTimeout(() => this.kill(), timeoutMs);
    await this.ended;
    clearTimeout(timer);
  }
}

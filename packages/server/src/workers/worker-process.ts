/** One worker process, as the primary sees it. */
import { IpcProcess } from "../child-process/ipc-process.ts";
import { siblingScript } from "../child-process/sibling-script.ts";
import { ownEnvironment } from "../config/own-environment.ts";
import type { LeveledLogger } from "../logger.ts";
import { Channel } from "./channel.ts";
import type { ToPrimary, ToWorker } from "./protocol.ts";

const script = siblingScript(import.meta.url, "main");

export class WorkerProcess {
  /** From 1; a replacement has the number of the process that ended. */
  readonly number: number;
  readonly channel: Channel<ToWorker, ToPrimary>;
  readonly #process: IpcProcess<object, never>;

  /** Starts a process, which loads its modules until it is told what to serve. */
  constructor(number: number, logger: LeveledLogger) {
    this.number = number;
    this.#process = new IpcProcess<object, never>({
      script,
      // A worker is the server: it needs the same variables and options.
      environment: ownEnvironment(),
      nodeOptions: process.execArgv,
      serialization: "advanced",
    });
    this.channel = new Channel(this.#process);
    void this.#process.disconnected.then(() => this.channel.close());
    this.#relayOutput(logger);
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  get isConnected(): boolean {
    return this.#process.isConnected;
  }

  /** Resolves when requests no longer reach it. */
  get disconnected(): Promise<void> {
    return this.#process.disconnected;
  }

  /** Resolves with how the process ended: a signal or an exit code. */
  get ended(): Promise<string> {
    return this.#process.ended.then(({ how }) => how);
  }

  kill(): void {
    this.#process.kill();
  }

  /** Passes on whole lines, since those of several workers would mix. */
  #relayOutput(logger: LeveledLogger): void {
    const rest: Buffer[] = [];
    this.#process.onOutput((bytes) => {
      const end = bytes.lastIndexOf("\n") + 1;
      if (end > 0) logger.writeLines(Buffer.concat([...rest.splice(0), bytes.subarray(0, end)]));
      if (end < bytes.length) rest.push(bytes.subarray(end));
    });
    void this.#process.ended.then(() => {
      if (rest.length > 0) logger.writeLines(Buffer.concat([...rest, Buffer.from("\n")]));
    });
  }
}

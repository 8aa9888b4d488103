/** One process that runs a model with sherpa-onnx: loads the model, does one piece of work at a time, is killed. */
import { IpcProcess } from "../../child-process/ipc-process.ts";
import type { PooledProcess } from "../../child-process/pooled-process.ts";
import { siblingScript } from "../../child-process/sibling-script.ts";
import { libraryPaths } from "../../config/library-paths.ts";
import { AppError } from "../../errors.ts";
import { publicReason } from "../public-reason.ts";
import type { FromModel, LoadSettings, ResultOf, StreamRecognition, StreamWork, ToModel, Work } from "./protocol.ts";

interface StartOptions {
  readonly name: string;
  readonly settings: LoadSettings;
  /** The model's files, which the library's messages name. */
  readonly files: readonly string[];
  readonly startTimeoutMs: number;
  /** Aborts the start. */
  readonly signal: AbortSignal;
}

export interface ModelStream extends Disposable {
  /** The recognition result after these further samples. */
  listen(work: Omit<StreamWork, "type" | "stream">): Promise<StreamRecognition>;
}

const script = siblingScript(import.meta.url, "child/main");

export class ModelProcess implements PooledProcess {
  readonly #process: IpcProcess<ToModel, FromModel>;
  readonly #name: string;
  readonly #files: readonly string[];
  #jobs = 0;
  #streams = 0;
  #running: { readonly job: number; resolve(result: unknown): void; reject(error: unknown): void } | undefined;
  /** How long the library took to load the model. */
  loadMs = 0;
  /** Resolves when the process has ended, for any reason, with how running work failed. */
  readonly ended: Promise<AppError>;

  private constructor({ name, files }: Pick<StartOptions, "name" | "files">) {
    this.#name = name;
    this.#files = files;
    this.#process = new IpcProcess<ToModel, FromModel>({
      script,
      environment: libraryPaths(),
      serialization: "advanced",
      outputBytes: 4_000,
    });
    this.#process.listen((message) => this.#receive(message));
    this.ended = this.#process.ended.then(({ how }) => {
      const message = `The model's process exited (${how}) before its work was complete.`;
      const failure = this.#failure(message, this.#lastWords);
      this.#running?.reject(failure);
      this.#running = undefined;
      return failure;
    });
  }

  /**
   * Starts a process and loads the model in it. If that fails, the process has ended.
   * @throws AppError upstream_failed or upstream_timeout with the library's output as its cause, or the signal's reason
   */
  static async start(options: StartOptions): Promise<ModelProcess> {
    const { name, settings, startTimeoutMs: timeoutMs, signal } = options;
    const started = new ModelProcess(options);
    try {
      const read = (message: FromModel): number | undefined => started.#readLoadMs(message);
      started.loadMs = await started.#process.start({ type: "load", settings }, read, {
        timeoutMs,
        signal,
        timedOut() {
          const message = `The model ${JSON.stringify(name)} was not loaded within start_timeout_ms (${timeoutMs}).`;
          return new AppError("upstream_timeout", message);
        },
        // The system kills processes when memory is short.
        ended: ({ how }) => started.#unusable(undefined, how !== "SIGKILL"),
      });
      return started;
    } catch (error) {
      await started.ended;
      throw error;
    }
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  get isRunning(): boolean {
    return this.#process.isConnected;
  }

  /**
   * Does one piece of work; the one before must be done.
   * @throws AppError upstream_failed
   */
  async run<W extends Work>(work: W): Promise<ResultOf<W>> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    if (!this.isRunning) throw this.#failure("The model's process has exited.", undefined);
    this.#running = { job: ++this.#jobs, resolve, reject };
    this.#process.send({ type: "work", job: this.#jobs, work });
    return (await promise) as ResultOf<W>;
  }

  /** A recording that is recognized piece by piece. */
  openStream(): ModelStream {
    const stream = ++this.#streams;
    return {
      listen: (work) => this.run({ type: "listen", stream, ...work }),
      [Symbol.dispose]: () => this.#process.send({ type: "forget", stream }),
    };
  }

  /** Ends the process; running work fails. */
  stop(): void {
    this.#process.kill();
  }

  /** Why native code gave up. The rest of its output may quote callers' input, which must not be logged. */
  get #lastWords(): string | undefined {
    return this.#process.lastOutput.match(/^\s*(?:terminate called|what\(\):).*$/gm)?.join("\n");
  }

  #readLoadMs(message: FromModel): number | undefined {
    if (message.type === "unusable") throw this.#unusable(message.message, true);
    return message.type === "ready" ? message.loadMs : undefined;
  }

  #unusable(reason: string | undefined, lasting: boolean): AppError {
    const said = [reason, this.#process.lastOutput].filter((text) => text !== undefined && text !== "").join("\n");
    const shown = publicReason(said, this.#files);
    const message = `The model ${JSON.stringify(this.#name)} cannot be loaded${shown === undefined ? "" : `: ${shown}`}.`;
    const isOfFiles = lasting && !/bad_alloc|out of memory|cannot allocate/i.test(said);
    return new AppError("upstream_failed", message, { cause: new Error(said), lasting: isOfFiles });
  }

  #receive(message: FromModel): void {
    if (message.type !== "done" && message.type !== "failed") return;
    const running = this.#running;
    if (running?.job !== message.job) return;
    this.#running = undefined;
    if (message.type === "done") running.resolve(message.result);
    else running.reject(this.#failure("The model failed to process this input.", message.message));
  }

  #failure(message: string, reason: string | undefined): AppError {
    return new AppError("upstream_failed", message, reason === undefined ? {} : { cause: new Error(reason) });
  }
}

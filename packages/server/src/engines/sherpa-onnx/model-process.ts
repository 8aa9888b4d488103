/**
 * One running process of a model: started, given one piece of work at a time, ended. Native code that crashes, or that
 * ends its process because it does not like a model, takes nothing else with it.
 */
import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { libraryPaths } from "../../config/library-paths.ts";
import { AppError } from "../../errors.ts";
import { keepLastOutput, scriptBeside } from "../../child-process/subprocess.ts";
import type { FromModel, LoadSettings, ResultOf, ToModel, Work } from "./protocol.ts";

interface StartOptions {
  readonly name: string;
  readonly settings: LoadSettings;
  readonly startTimeoutMs: number;
  /** Ends the start. */
  readonly signal: AbortSignal;
}

/** Longest time for a phrase, or for a stretch of speech of some 30 s. A process that needs longer is stuck. */
const longestWorkMs = 600_000;

const entry = fileURLToPath(scriptBeside(import.meta.url, "child/main"));

export class ModelProcess {
  readonly #child: ChildProcess;
  readonly #name: string;
  readonly #lastOutput: () => string;
  #jobs = 0;
  #running: { readonly job: number; resolve(result: unknown): void; reject(error: unknown): void } | undefined;
  /** How long the library took to load the model. */
  loadMs = 0;
  /** Resolves when the process has ended, for whatever reason. */
  readonly ended: Promise<void>;

  private constructor(name: string) {
    this.#name = name;
    this.#child = fork(entry, [], {
      execArgv: [],
      env: libraryPaths(),
      serialization: "advanced",
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#lastOutput = keepLastOutput(this.#child, 4000);
    this.#child.on("message", (message: FromModel) => this.#receive(message));
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    const onEnd = (how: string): void => {
      this.#running?.reject(
        this.#failure(`The model's process exited (${how}) before its work was complete.`, this.#lastWords),
      );
      this.#running = undefined;
      resolve();
    };
    // After the output has been read, too.
    this.#child.once("close", (code, signal) => onEnd(signal ?? `code ${code}`));
    this.#child.once("error", () => onEnd("it cannot be started"));
  }

  /**
   * Starts a process and loads the model in it. When it fails, the process has ended.
   * @throws AppError upstream_failed or upstream_timeout; what the library said is its cause
   */
  static async start({ name, settings, startTimeoutMs, signal }: StartOptions): Promise<ModelProcess> {
    const started = new ModelProcess(name);
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const timer = setTimeout(() => {
      const message = `The model ${JSON.stringify(name)} was not loaded within start_timeout_ms (${startTimeoutMs}).`;
      reject(new AppError("upstream_timeout", message));
    }, startTimeoutMs);
    const onMessage = (message: FromModel): void => {
      if (message.type === "ready") resolve(message.loadMs);
      else if (message.type === "unusable") reject(started.#unusable(message.message));
    };
    started.#child.on("message", onMessage);
    void started.ended.then(() => reject(started.#unusable(undefined)));
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    started.#send({ type: "load", settings });
    try {
      started.loadMs = await promise;
      return started;
    } catch (error) {
      started.stop();
      await started.ended;
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      started.#child.off("message", onMessage);
    }
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isRunning(): boolean {
    return this.#child.connected;
  }

  /**
   * Does one piece of work; the one before must be done.
   * @throws AppError upstream_failed
   */
  async run<W extends Work>(work: W): Promise<ResultOf<W>> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    if (!this.#child.connected) throw this.#failure("The model's process has exited.", undefined);
    this.#running = { job: ++this.#jobs, resolve, reject };
    this.#send({ type: "work", job: this.#jobs, work });
    // Its end fails the work that is stuck.
    const timer = setTimeout(() => this.stop(), longestWorkMs).unref();
    try {
      return (await promise) as ResultOf<W>;
    } finally {
      clearTimeout(timer);
    }
  }

  forget(stream: number): void {
    this.#send({ type: "forget", stream });
  }

  /** Ends the process; running work fails. */
  stop(): void {
    this.#child.kill("SIGKILL");
  }

  /** Why native code gave up. The rest of what it prints may quote what callers say, and belongs into no log. */
  get #lastWords(): string | undefined {
    return this.#lastOutput()
      .match(/^\s*(?:terminate called|what\(\):).*$/gm)
      ?.join("\n");
  }

  #unusable(reason: string | undefined): AppError {
    const said = [reason, this.#lastOutput()].filter((text) => text !== undefined && text !== "").join("\n");
    return this.#failure(`The model ${JSON.stringify(this.#name)} cannot be loaded.`, said);
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

  #send(message: ToModel): void {
    // A channel that has closed is noticed by the end that follows it.
    if (this.#child.connected) this.#child.send(message, () => {});
  }
}

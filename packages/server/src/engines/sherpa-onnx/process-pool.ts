/**
 * Schedules work onto the processes of one model: starts them on demand, replaces those that crash or are busy with
 * cancelled work, and stops them when idle.
 */
import { onAbort } from "../../abort.ts";
import { AppError, defaultRetryAfterMs } from "../../errors.ts";
import { RoundRobinQueue } from "../../scheduling/round-robin-queue.ts";
import type { Logger } from "../../logger.ts";
import { FailureBackoff } from "../../child-process/failure-backoff.ts";
import { LoadFailure } from "../load-failure.ts";
import { JobQueue, type JobOptions } from "../job-queue.ts";
import { ModelProcess } from "./model-process.ts";
import type { Job, Slot } from "./pool-slot.ts";
import type { LoadSettings, ResultOf, StreamWork, Work } from "./protocol.ts";

export interface ProcessPoolOptions {
  readonly name: string;
  readonly settings: LoadSettings;
  /** The model's files; when they cannot be loaded, that is tried again once they change. */
  readonly files: readonly string[];
  /** Most processes. */
  readonly processes: number;
  readonly startTimeoutMs: number;
  /** Undefined: never unloaded. */
  readonly idleUnloadMs: number | undefined;
  readonly logger: Logger;
}

export interface ModelStream {
  /** The recognition result after these further samples. */
  listen(work: Omit<StreamWork, "type" | "stream">, signal: AbortSignal): Promise<ResultOf<StreamWork>>;
  /** Must always be called. */
  close(): void;
}

/** Abandoned work is let finish for at least this long. */
const shortestGraceMs = 50;
const graceAmongStreamsMs = 10_000;

export class ProcessPool {
  readonly #options: ProcessPoolOptions;
  readonly #slots = new Set<Slot>();
  readonly #jobs = new JobQueue<Job>();
  /** Streams that wait for a process. */
  readonly #streamsWaiting = new RoundRobinQueue<{ resolve(slot: Slot): void; reject(error: unknown): void }>();
  readonly #starts = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  #streams = 0;
  readonly #pauses = new FailureBackoff();
  readonly #failure = new LoadFailure();
  #idleTimer: NodeJS.Timeout | undefined;
  #pauseTimer: NodeJS.Timeout | undefined;

  constructor(options: ProcessPoolOptions) {
    this.#options = options;
  }

  /**
   * One piece of work, done by whichever process is free first.
   * @throws AppError upstream_failed, upstream_timeout or overloaded; the signal's reason when it aborts
   */
  async run<W extends Work>(work: W, turn: JobOptions): Promise<ResultOf<W>> {
    if (this.#failure.isKnown) await this.#failure.check();
    return this.#enqueue(work, this.#jobs, turn);
  }

  /** A stream in the process that has the fewest. Failures are those of `run`. */
  async openStream(signal: AbortSignal, group = ""): Promise<ModelStream> {
    if (this.#failure.isKnown) await this.#failure.check();
    this.#admit(signal);
    const slot = await this.#slotForStream(signal, group);
    const stream = ++this.#streams;
    return {
      listen: (work, listening) => {
        if (!this.#slots.has(slot)) throw new AppError("upstream_failed", "The model's process has exited.");
        return this.#enqueue({ type: "listen", stream, ...work }, slot.streamJobs, {
          first: false,
          group,
          signal: listening,
        });
      },
      close: () => {
        slot.streams--;
        slot.process.forget(stream);
        this.#watchIdle();
      },
    };
  }

  /** Starts one process before it is needed. A failure is logged and reported to the first caller. */
  preload(): void {
    if (this.#slots.size + this.#starts.size === 0) this.#start();
  }

  /** Why the model could not be loaded, as long as that is not tried again. */
  get problem(): AppError | undefined {
    return this.#failure.error;
  }

  /** Whether a process has loaded the model. */
  get isLoaded(): boolean {
    return this.#slots.size > 0;
  }

  async close(): Promise<void> {
    const message = `The model ${JSON.stringify(this.#options.name)} is shutting down.`;
    const error = new AppError("overloaded", message, { retryAfterMs: defaultRetryAfterMs });
    this.#closing.abort(error);
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#pauseTimer);
    this.#jobs.rejectAll(error);
    for (const { job, streamJobs } of this.#slots) {
      job?.reject(error);
      streamJobs.rejectAll(error);
    }
    for (const waiting of this.#streamsWaiting.drain()) waiting.reject(error);
    await Promise.all(this.#starts);
    await this.#stopAll();
  }

  #admit(signal: AbortSignal): void {
    this.#closing.signal.throwIfAborted();
    signal.throwIfAborted();
    const { count, leftMs: pauseMs } = this.#pauses;
    if (pauseMs > 0 && this.#slots.size === 0) {
      throw new AppError(
        "overloaded",
        `The model ${JSON.stringify(this.#options.name)} failed ${count} times and is about to be restarted. Retry later.`,
        { retryAfterMs: pauseMs },
      );
    }
    clearTimeout(this.#idleTimer);
  }

  async #enqueue<W extends Work>(
    work: W,
    queue: JobQueue<Job>,
    { first, group = "", signal }: JobOptions,
  ): Promise<ResultOf<W>> {
    this.#admit(signal);
    const { promise, resolve, reject } = Promise.withResolvers<ResultOf<W>>();
    const job: Job = { work, first, group, resolve, reject, cancelled: false };
    using _listener = onAbort(signal, () => {
      queue.remove(job);
      this.#cancel(job);
      reject(signal.reason);
    });
    queue.push(job);
    this.#assign();
    try {
      return await promise;
    } finally {
      this.#watchIdle();
    }
  }

  async #slotForStream(signal: AbortSignal, group: string): Promise<Slot> {
    const { promise, resolve, reject } = Promise.withResolvers<Slot>();
    const waiting = { resolve, reject };
    using _listener = onAbort(signal, () => {
      this.#streamsWaiting.remove(group, waiting);
      reject(signal.reason);
    });
    this.#streamsWaiting.push(group, waiting);
    this.#assign();
    return await promise;
  }

  #assign(): void {
    for (const slot of this.#slots) {
      if (slot.job !== undefined || !slot.process.isRunning) continue;
      const job = slot.streamJobs.next() ?? this.#jobs.next();
      if (job !== undefined) void this.#work(slot, job);
    }
    this.#assignStreams();
    const waiting = this.#jobs.length + this.#streamsWaiting.size;
    if (waiting <= this.#starts.size || this.#closing.signal.aborted || !this.#hasRoom) return;
    if (this.#pauses.leftMs <= 0) this.#start();
    else if (this.#slots.size + this.#starts.size === 0) this.#assignLater();
  }

  /** A further process is started for streams before two of them share one. */
  #assignStreams(): void {
    while (this.#streamsWaiting.size > 0) {
      const [slot] = [...this.#slots].filter(({ process }) => process.isRunning).sort((a, b) => a.streams - b.streams);
      const anotherComes = this.#starts.size > 0 || (this.#hasRoom && this.#pauses.leftMs <= 0);
      if (slot === undefined || (slot.streams > 0 && anotherComes)) return;
      slot.streams++;
      this.#streamsWaiting.next()!.item.resolve(slot);
    }
  }

  /** Assigns the jobs that were queued when the process exited to its replacement. */
  #assignLater(): void {
    clearTimeout(this.#pauseTimer);
    this.#pauseTimer = setTimeout(() => this.#assign(), this.#pauses.leftMs + 1);
  }

  get #hasRoom(): boolean {
    return this.#slots.size + this.#starts.size < this.#options.processes;
  }

  async #work(slot: Slot, job: Job): Promise<void> {
    slot.job = job;
    try {
      job.resolve((await slot.process.run(job.work)) as never);
      this.#pauses.succeed();
    } catch (error) {
      job.reject(error);
      if (!job.cancelled) this.#options.logger.warn({ model: this.#options.name, error }, "a model failed");
    }
    slot.job = undefined;
    this.#assign();
  }

  /** Waiting for the work or loading the model again: waiting as long as a load takes costs at most twice the better choice. */
  #cancel(job: Job): void {
    job.cancelled = true;
    const slot = [...this.#slots].find((each) => each.job === job);
    if (slot === undefined) return;
    // Others may have streams there, whose pieces are short.
    const graceMs = slot.streams > 0 ? graceAmongStreamsMs : Math.max(shortestGraceMs, slot.process.loadMs);
    setTimeout(() => {
      if (slot.job === job) this.#remove(slot).stop();
    }, graceMs).unref();
  }

  #remove(slot: Slot): ModelProcess {
    this.#slots.delete(slot);
    return slot.process;
  }

  #start(): void {
    const start = this.#load().finally(() => {
      this.#starts.delete(start);
      this.#assign();
    });
    this.#starts.add(start);
  }

  async #load(): Promise<void> {
    const { name, settings, files, startTimeoutMs, logger } = this.#options;
    const { signal } = this.#closing;
    try {
      this.#add(await ModelProcess.start({ name, settings, files, startTimeoutMs, signal }));
    } catch (error) {
      if (signal.aborted) return;
      logger.error({ model: name, error }, "a model cannot be loaded");
      if (error instanceof AppError && error.lasting) await this.#failure.remember(error, files);
      else this.#pauses.fail();
      if (this.#slots.size > 0) return;
      this.#jobs.rejectAll(error);
      for (const waiting of this.#streamsWaiting.drain()) waiting.reject(error);
    }
  }

  #add(process: ModelProcess): void {
    const { name, logger } = this.#options;
    const slot: Slot = { process, job: undefined, streamJobs: new JobQueue(), streams: 0 };
    this.#slots.add(slot);
    logger.info({ model: name, pid: process.pid, load_ms: Math.round(process.loadMs) }, "model loaded");
    void process.ended.then(() => {
      const died = this.#slots.delete(slot);
      slot.streamJobs.rejectAll(new AppError("upstream_failed", "The model's process has exited."));
      if (died && !this.#closing.signal.aborted) this.#pauses.fail();
      this.#assign();
    });
    this.#watchIdle();
  }

  #watchIdle(): void {
    const { idleUnloadMs, name, logger } = this.#options;
    clearTimeout(this.#idleTimer);
    if (idleUnloadMs === undefined || this.#closing.signal.aborted || this.#isBusy) return;
    this.#idleTimer = setTimeout(() => {
      if (this.#isBusy || this.#slots.size === 0) return;
      logger.info({ model: name }, "model unloaded after being idle");
      void this.#stopAll();
    }, idleUnloadMs).unref();
  }

  get #isBusy(): boolean {
    const waiting = this.#jobs.length + this.#streamsWaiting.size;
    return waiting > 0 || [...this.#slots].some(({ job, streams }) => job !== undefined || streams > 0);
  }

  async #stopAll(): Promise<void> {
    const processes = [...this.#slots].map((slot) => this.#remove(slot));
    for (const process of processes) process.stop();
    await Promise.all(processes.map(({ ended }) => ended));
  }
}

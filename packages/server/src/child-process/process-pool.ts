/**
 * Schedules work onto processes or threads of one kind: starts them on demand, replaces those that crash or are busy with
 * cancelled work, stops them when idle, and pauses before it restarts one that failed more than once.
 */
import { onAbort } from "../abort.ts";
import { AppError, defaultRetryAfterMs } from "../errors.ts";
import { JobQueue, type JobOptions } from "../scheduling/job-queue.ts";
import { RoundRobinQueue } from "../scheduling/round-robin-queue.ts";
import { FailureBackoff } from "./failure-backoff.ts";
import { LoadFailure } from "./load-failure.ts";
import type {
  PooledProcess,
  PoolJob,
  PoolSession,
  PoolSlot,
  ProcessPoolOptions,
  WaitingQueue,
} from "./pooled-process.ts";

export class ProcessPool<Process extends PooledProcess> {
  readonly #options: ProcessPoolOptions<Process>;
  readonly #slots = new Set<PoolSlot<Process>>();
  readonly #jobs: WaitingQueue<PoolJob<Process>>;
  readonly #waitingSessions = new RoundRobinQueue<PromiseWithResolvers<PoolSlot<Process>>>();
  readonly #starts = new Set<Promise<void>>();
  /** Ends of all processes, stopped ones included. */
  readonly #ends = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  readonly #pauses = new FailureBackoff();
  readonly #failure = new LoadFailure();
  #pauseTimer: NodeJS.Timeout | undefined;

  constructor(options: ProcessPoolOptions<Process>) {
    this.#options = options;
    this.#jobs = options.queue ?? new JobQueue();
  }

  /**
   * Does work in whichever process is free first. It need not settle when its process ends.
   * @throws AppError overloaded, or why the work or the start of a process failed; the signal's reason when it aborts
   */
  async run<Result>(turn: JobOptions, work: (process: Process) => Promise<Result>): Promise<Result> {
    if (this.#failure.isKnown) await this.#failure.check();
    return this.#enqueue(this.#jobs, turn, work);
  }

  /** Opens a session in the process that has the fewest. Failures are those of `run`. */
  async enter({ signal, group = "" }: Omit<JobOptions, "first">): Promise<PoolSession<Process>> {
    if (this.#failure.isKnown) await this.#failure.check();
    this.#admit(signal);
    const waiting = Promise.withResolvers<PoolSlot<Process>>();
    using _listener = onAbort(signal, () => {
      this.#waitingSessions.remove(group, waiting);
      waiting.reject(signal.reason);
    });
    this.#waitingSessions.push(group, waiting);
    this.#assign();
    const slot = await waiting.promise;
    return {
      process: slot.process,
      run: async (turn, work) => {
        if (!this.#slots.has(slot)) throw this.#exited();
        return this.#enqueue(slot.sessionJobs, turn, work);
      },
      succeed: () => this.#pauses.succeed(),
      [Symbol.dispose]: () => {
        slot.sessions--;
        this.#assign();
        this.#rest(slot);
      },
    };
  }

  /** Starts one process before it is needed. A failure is logged and reported to the first caller. */
  preload(): void {
    if (this.#starts.size === 0 && this.#hasRoom && ![...this.#slots].some(isIdle)) this.#start();
  }

  /** Why no process can be started, as long as that is not tried again. */
  get problem(): AppError | undefined {
    return this.#failure.error;
  }

  /** Whether a process is ready. */
  get isLoaded(): boolean {
    return this.#slots.size > 0;
  }

  async close(): Promise<void> {
    const { what } = this.#options;
    const error = new AppError("overloaded", `${what} is shutting down.`, { retryAfterMs: defaultRetryAfterMs });
    this.#closing.abort(error);
    clearTimeout(this.#pauseTimer);
    this.#rejectWaiting(error);
    for (const slot of this.#slots) {
      if (slot.job !== undefined) rejectJob(slot.job, error);
      slot.sessionJobs.rejectAll(error);
      this.#discard(slot);
    }
    await Promise.all(this.#starts);
    await Promise.all(this.#ends);
  }

  #admit(signal: AbortSignal): void {
    this.#closing.signal.throwIfAborted();
    signal.throwIfAborted();
    const { count, leftMs } = this.#pauses;
    if (leftMs <= 0 || this.#slots.size > 0) return;
    const what = `${this.#options.what} failed ${count} times and is about to be restarted.`;
    throw new AppError("overloaded", `${what} Retry later.`, { retryAfterMs: leftMs });
  }

  async #enqueue<Result>(
    queue: WaitingQueue<PoolJob<Process>>,
    { first, group = "", dueMs, signal }: JobOptions,
    work: (process: Process) => Promise<Result>,
  ): Promise<Result> {
    this.#admit(signal);
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const run = async (process: Process): Promise<void> => resolve(await work(process));
    const job: PoolJob<Process> = { first, group, dueMs, run, reject, isOver: false };
    using _listener = onAbort(signal, () => {
      queue.remove(job);
      rejectJob(job, signal.reason);
      this.#cancel(job);
    });
    queue.push(job);
    this.#assign();
    return await promise;
  }

  #assign(): void {
    for (const slot of this.#slots) {
      if (slot.job !== undefined || !isRunning(slot)) continue;
      const job = slot.sessionJobs.next() ?? this.#jobs.next();
      if (job !== undefined) void this.#work(slot, job);
    }
    this.#assignSessions();
    const waiting = this.#jobs.length + this.#waitingSessions.size;
    if (waiting <= this.#starts.size || !this.#hasRoom) return;
    if (this.#pauses.leftMs <= 0) this.#start();
    else if (this.#slots.size + this.#starts.size === 0) this.#assignLater();
  }

  /** A further process is started before two sessions share one. */
  #assignSessions(): void {
    while (this.#waitingSessions.size > 0) {
      const [slot] = [...this.#slots].filter(isRunning).sort((one, other) => one.sessions - other.sessions);
      const anotherComes = this.#starts.size > 0 || (this.#hasRoom && this.#pauses.leftMs <= 0);
      if (slot === undefined || (slot.sessions > 0 && anotherComes)) return;
      slot.sessions++;
      if (slot.job === undefined) clearTimeout(slot.timer);
      this.#waitingSessions.next()!.item.resolve(slot);
    }
  }

  /** Assigns the jobs that were queued when the process exited to its replacement. */
  #assignLater(): void {
    clearTimeout(this.#pauseTimer);
    this.#pauseTimer = setTimeout(() => this.#assign(), this.#pauses.leftMs + 1);
  }

  get #hasRoom(): boolean {
    return !this.#closing.signal.aborted && this.#slots.size + this.#starts.size < this.#options.most;
  }

  async #work(slot: PoolSlot<Process>, job: PoolJob<Process>): Promise<void> {
    slot.job = job;
    clearTimeout(slot.timer);
    const { longestWorkMs } = this.#options;
    if (longestWorkMs !== undefined) slot.timer = setTimeout(() => this.#giveUp(slot, job), longestWorkMs).unref();
    try {
      await job.run(slot.process);
      job.isOver = true;
      this.#pauses.succeed();
    } catch (error) {
      this.#fail(job, error);
    }
    slot.job = undefined;
    this.#assign();
    this.#rest(slot);
  }

  #giveUp(slot: PoolSlot<Process>, job: PoolJob<Process>): void {
    const { what, longestWorkMs } = this.#options;
    this.#fail(
      job,
      new AppError("upstream_timeout", `${what} took more than ${longestWorkMs} ms for one piece of work.`),
    );
    this.#pauses.fail(this.#options.longestPauseAfterCrashMs);
    this.#discard(slot);
  }

  #fail(job: PoolJob<Process>, cause: unknown): void {
    if (job.isOver) return;
    const { logger, logFields, messages, failure } = this.#options;
    logger.warn({ ...logFields, error: cause }, messages.failed);
    rejectJob(job, failure === undefined ? cause : failure(cause));
  }

  #cancel(job: PoolJob<Process>): void {
    const slot = [...this.#slots].find((each) => each.job === job);
    if (slot === undefined) return;
    const graceMs = this.#options.graceMs?.(slot.process, slot.sessions);
    if (graceMs === undefined) return this.#discard(slot);
    setTimeout(() => {
      if (slot.job === job) this.#discard(slot);
    }, graceMs).unref();
  }

  /** The process is no longer needed, or no longer trusted. */
  #discard(slot: PoolSlot<Process>): void {
    clearTimeout(slot.timer);
    this.#slots.delete(slot);
    void slot.process.stop();
    this.#assign();
  }

  #start(): void {
    const start = this.#load().finally(() => {
      this.#starts.delete(start);
      this.#assign();
    });
    this.#starts.add(start);
  }

  async #load(): Promise<void> {
    const { start, files, logger, logFields, messages } = this.#options;
    const { signal } = this.#closing;
    try {
      this.#add(await start(signal));
    } catch (error) {
      if (signal.aborted) return;
      logger.error({ ...logFields, error }, messages.notStarted);
      if (!(error instanceof AppError && error.lasting)) this.#pauses.fail();
      else await this.#failure.remember(error, files?.() ?? []);
      if (this.#slots.size === 0) this.#rejectWaiting(error);
    }
  }

  #add(process: Process): void {
    const slot: PoolSlot<Process> = {
      process,
      job: undefined,
      sessionJobs: new JobQueue(),
      sessions: 0,
      timer: undefined,
    };
    this.#slots.add(slot);
    const end = process.ended.then((reason) => {
      this.#ends.delete(end);
      this.#onEnd(slot, reason);
    });
    this.#ends.add(end);
    if (this.#closing.signal.aborted) this.#discard(slot);
    else this.#rest(slot);
  }

  #onEnd(slot: PoolSlot<Process>, reason: unknown): void {
    clearTimeout(slot.timer);
    const isUnexpected = this.#slots.delete(slot);
    if (slot.job !== undefined) this.#fail(slot.job, reason);
    slot.sessionJobs.rejectAll(this.#exited());
    if (isUnexpected) this.#pauses.fail(this.#options.longestPauseAfterCrashMs);
    this.#assign();
  }

  #rest(slot: PoolSlot<Process>): void {
    if (!isIdle(slot) || !this.#slots.has(slot)) return;
    const { idleMs, logger, logFields, messages } = this.#options;
    clearTimeout(slot.timer);
    if (idleMs === undefined) return;
    slot.timer = setTimeout(() => {
      logger.info({ ...logFields }, messages.idle);
      this.#discard(slot);
    }, idleMs).unref();
  }

  #exited(): AppError {
    return new AppError("upstream_failed", `${this.#options.what}: its process has exited.`);
  }

  #rejectWaiting(error: unknown): void {
    this.#jobs.rejectAll(error);
    for (const waiting of this.#waitingSessions.drain()) waiting.reject(error);
  }
}

function isRunning({ process }: { readonly process: PooledProcess }): boolean {
  return process.isRunning !== false;
}

function isIdle({ job, sessions }: { readonly job: unknown; readonly sessions: number }): boolean {
  return job === undefined && sessions === 0;
}

function rejectJob(job: { isOver: boolean; reject(error: unknown): void }, error: unknown): void {
  job.isOver = true;
  job.reject(error);
}

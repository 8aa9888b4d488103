/**
 * Schedules utterances onto recognizer processes. Organizations, then calls, take turns by how much audio was decoded for
 * them, so an hour of one does not delay ten seconds of another. Processes start on demand, stop when idle, and are
 * replaced when they crash or their utterance is cancelled.
 */
import { onAbort } from "../../abort.ts";
import { AppError, defaultRetryAfterMs } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import type { Installation } from "./installation.ts";
import { startRecognizer, type RecognizerProcess } from "./recognizer-process.ts";
import { countUsage, hasLessUsage, DecodingUsage, type CallUsage } from "./decoding-usage.ts";
import type { UtteranceJob } from "./utterance-job.ts";

export interface PoolOptions {
  /** Most processes. */
  readonly processes: number;
  readonly idleUnloadMs: number;
  /** @throws AppError if PocketSphinx is not installed */
  readonly installation: () => Installation;
  readonly logger: Logger;
}

interface Task {
  readonly job: UtteranceJob;
  /** Cancels the task when its call is aborted. */
  readonly listener: Disposable;
  slot: Slot | undefined;
  over: boolean;
}

interface Slot {
  readonly process: RecognizerProcess;
  task: Task | undefined;
  /** Ends a task that takes too long. */
  timer: NodeJS.Timeout | undefined;
}

/** Longest decoding time of an utterance. */
const longestMs = 120_000;

export class RecognizerPool {
  readonly #options: PoolOptions;
  readonly #slots = new Set<Slot>();
  readonly #usages = new DecodingUsage();
  #waiting: Task[] = [];
  #starting = 0;
  #closed = false;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Opens a call's usage account until it is disposed. Late callers get no compensation for earlier usage of others. */
  open(group = ""): CallUsage & Disposable {
    return this.#usages.open(group);
  }

  /** Decodes an utterance; when the signal aborts, that is its failure. */
  decode(job: UtteranceJob): void {
    if (this.#closed) return job.onFailure(shuttingDown());
    if (job.signal.aborted) return job.onFailure(job.signal.reason);
    const listener = onAbort(job.signal, () => this.#cancel(task));
    const task: Task = { job, listener, slot: undefined, over: false };
    this.#waiting.push(task);
    this.#assign();
  }

  /** Starts one process before it is needed. */
  warm(): void {
    if (this.#slots.size + this.#starting === 0) void this.#start();
  }

  /** Whether a process is ready. */
  get isLoaded(): boolean {
    return this.#slots.size > 0;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idleTimer);
    const tasks = [...this.#waiting, ...[...this.#slots].flatMap(({ task }) => task ?? [])];
    for (const task of tasks) this.#fail(task, shuttingDown());
    const ends = [...this.#slots].map(({ process }) => process.ended);
    for (const slot of this.#slots) this.#drop(slot);
    await Promise.all(ends);
  }

  /** Assigns utterances to free processes, and starts or ends processes on demand. */
  #assign(): void {
    for (const slot of this.#slots) {
      if (slot.task !== undefined) continue;
      const task = this.#takeNext();
      if (task === undefined) break;
      slot.task = task;
      task.slot = slot;
      this.#begin(slot, task);
    }
    const { processes } = this.#options;
    for (let missing = this.#waiting.length - this.#starting; missing > 0; missing -= 1) {
      if (this.#slots.size + this.#starting < processes && !this.#closed) void this.#start();
    }
    this.#unloadWhenIdle();
  }

  /** The oldest utterance of the call with the least usage in the group with the least usage. */
  #takeNext(): Task | undefined {
    const [first, ...others] = this.#waiting;
    if (first === undefined) return undefined;
    const next = others.reduce((best, task) => (hasLessUsage(task.job.usage, best.job.usage) ? task : best), first);
    this.#waiting = this.#waiting.filter((task) => task !== next);
    return next;
  }

  #begin(slot: Slot, task: Task): void {
    const { audio, usage } = task.job;
    slot.process.send({ type: "begin" });
    for (const samples of audio.pieces) slot.process.send({ type: "samples", samples });
    slot.process.send({ type: "end" });
    countUsage(usage, audio.length);
    slot.timer = setTimeout(() => {
      this.#fail(task, new AppError("upstream_timeout", "The recognizer took too long for an utterance."));
      this.#drop(slot);
      this.#assign();
    }, longestMs).unref();
  }

  async #start(): Promise<void> {
    this.#starting += 1;
    try {
      const process = await startRecognizer(this.#options.installation());
      if (this.#closed) process.stop();
      else this.#add(process);
    } catch (error) {
      this.#options.logger.error({ error }, "a recognizer process did not start");
      for (const task of this.#waiting) this.#fail(task, error);
    } finally {
      this.#starting -= 1;
    }
    if (!this.#closed) this.#assign();
  }

  #add(process: RecognizerProcess): void {
    const slot: Slot = {
      process,
      task: undefined,
      timer: undefined,
    };
    this.#slots.add(slot);
    process.listen((message) => {
      const { task } = slot;
      this.#free(slot);
      task?.job.onRecognized(message.words);
      this.#assign();
    });
    void process.ended.then((how) => this.#onEnd(slot, how));
  }

  #onEnd(slot: Slot, how: string): void {
    if (!this.#slots.has(slot)) return;
    const { task } = slot;
    this.#drop(slot);
    this.#options.logger.warn({ how }, "a recognizer process exited");
    if (task === undefined) return;
    this.#fail(task, new AppError("upstream_failed", "The recognizer failed to transcribe this recording."));
    this.#assign();
  }

  #cancel(task: Task): void {
    const { slot, job } = task;
    this.#fail(task, job.signal.reason);
    if (slot === undefined) return;
    // The decoder cannot abort an utterance: finishing it would cost more than a new process.
    this.#drop(slot);
    this.#assign();
  }

  #fail(task: Task, error: unknown): void {
    if (task.over) return;
    this.#finish(task);
    task.job.onFailure(error);
  }

  /** Nothing more is reported about the task. */
  #finish(task: Task): void {
    task.over = true;
    task.slot = undefined;
    task.listener[Symbol.dispose]();
    this.#waiting = this.#waiting.filter((each) => each !== task);
  }

  /** The slot can have another task. */
  #free(slot: Slot): void {
    clearTimeout(slot.timer);
    if (slot.task !== undefined) this.#finish(slot.task);
    slot.task = undefined;
  }

  /** The process is no longer needed, or no longer trusted. */
  #drop(slot: Slot): void {
    clearTimeout(slot.timer);
    slot.task = undefined;
    this.#slots.delete(slot);
    slot.process.stop();
  }

  #unloadWhenIdle(): void {
    clearTimeout(this.#idleTimer);
    const busy = this.#waiting.length > 0 || [...this.#slots].some(({ task }) => task !== undefined);
    if (busy || this.#slots.size === 0 || this.#closed) return;
    this.#idleTimer = setTimeout(() => {
      for (const slot of this.#slots) this.#drop(slot);
    }, this.#options.idleUnloadMs).unref();
  }
}

function shuttingDown(): AppError {
  return new AppError("overloaded", "The recognizer is shutting down.", { retryAfterMs: defaultRetryAfterMs });
}

/**
 * Schedules utterances onto recognizer processes. Organizations, then calls, take turns by how much audio was decoded for
 * them, so an hour of one does not delay ten seconds of another. Processes start on demand, stop when idle, and are
 * replaced when they die or their utterance is cancelled.
 */
import { onAbort } from "../../abort.ts";
import { AppError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import type { Installation } from "./installation.ts";
import { modelRate } from "./protocol.ts";
import { startRecognizer, type RecognizerProcess } from "./recognizer-process.ts";
import { hasLessUsage, DecodingUsage, type CallUsage } from "./decoding-usage.ts";
import type { UtteranceJob } from "./utterance-job.ts";

export interface PoolOptions {
  /** Most processes. */
  readonly processes: number;
  readonly idleUnloadMs: number;
  /** @throws AppError when there is none */
  readonly installation: () => Installation;
  readonly logger: Logger;
}

interface Task {
  readonly job: UtteranceJob;
  /** Cancels the task when its call is aborted. */
  readonly listener: Disposable;
  /** Whether it gave its slot to others because its sound did not come, and waits for its end now. */
  putOff: boolean;
  slot: Slot | undefined;
  over: boolean;
}

interface Slot {
  readonly process: RecognizerProcess;
  task: Task | undefined;
  /** Pieces of the task's sound that were sent. */
  sentPieces: number;
  lastSentMs: number;
  endSent: boolean;
  /** Ends a task that takes too long. */
  timer: NodeJS.Timeout | undefined;
}

/** Sound that must be there before an unfinished utterance gets a process. */
const firstSamples = modelRate / 2;
/** An unfinished utterance without sound for so long gives its process to one that is whole. */
const patienceMs = 250;
/** Longest time for an utterance once it is whole. */
const longestMs = 120_000;

export class RecognizerPool {
  readonly #options: PoolOptions;
  readonly #slots = new Set<Slot>();
  readonly #shares = new DecodingUsage();
  #waiting: Task[] = [];
  #starting = 0;
  #closed = false;
  #idleTimer: NodeJS.Timeout | undefined;
  #patienceTimer: NodeJS.Timeout | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** A caller's share, given back when disposed. Who comes late does not make up for what others had before. */
  open(group = ""): CallUsage & Disposable {
    return this.#shares.open(group);
  }

  /** Decodes an utterance; when the signal aborts, that is its failure. */
  decode(job: UtteranceJob): void {
    if (this.#closed) return job.onFailure(shuttingDown());
    if (job.signal.aborted) return job.onFailure(job.signal.reason);
    const listener = onAbort(job.signal, () => this.#cancel(task));
    const task: Task = { job, listener, putOff: false, slot: undefined, over: false };
    job.audio.watch(() => this.#onSound(task));
    this.#waiting.push(task);
    this.#assign();
  }

  /** Starts one process before it is needed. */
  warm(): void {
    if (this.#slots.size + this.#starting === 0) void this.#start();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#patienceTimer);
    const tasks = [...this.#waiting, ...[...this.#slots].flatMap(({ task }) => task ?? [])];
    for (const task of tasks) this.#fail(task, shuttingDown());
    const ends = [...this.#slots].map(({ process }) => process.ended);
    for (const slot of this.#slots) this.#drop(slot);
    await Promise.all(ends);
  }

  #onSound(task: Task): void {
    if (task.slot !== undefined) this.#feed(task.slot, task);
    else this.#assign();
  }

  /** Gives every free process an utterance, and starts or ends processes as the work asks for. */
  #assign(): void {
    for (const slot of this.#slots) {
      if (slot.task !== undefined) continue;
      const task = this.#takeNext();
      if (task === undefined) break;
      slot.task = task;
      task.slot = slot;
      const { partials, share } = task.job;
      // An utterance that is whole has all that there is to know of its mean.
      const isLive = partials && !task.job.audio.ended;
      slot.process.send({ type: "begin", partials, mean: isLive ? share.mean : undefined });
      this.#feed(slot, task);
    }
    const ready = this.#waiting.filter(canStart).length;
    const { processes } = this.#options;
    for (let missing = ready - this.#starting; missing > 0; missing -= 1) {
      if (this.#slots.size + this.#starting < processes && !this.#closed) void this.#start();
    }
    if (this.#slots.size === processes && this.#waiting.some(({ job }) => job.audio.ended)) this.#putOffStarved();
    this.#unloadWhenIdle();
  }

  /** Of the group that had least, and in it of the call that had least, the utterance that came first. */
  #takeNext(): Task | undefined {
    const [first, ...others] = this.#waiting.filter(canStart);
    if (first === undefined) return undefined;
    const next = others.reduce((best, task) => (hasLessUsage(task.job.share, best.job.share) ? task : best), first);
    this.#waiting = this.#waiting.filter((task) => task !== next);
    return next;
  }

  #feed(slot: Slot, task: Task): void {
    const { audio, share } = task.job;
    for (const samples of audio.pieces.slice(slot.sentPieces)) {
      slot.process.send({ type: "samples", samples });
      share.usedSamples += samples.length;
      share.group.usedSamples += samples.length;
      slot.sentPieces += 1;
    }
    slot.lastSentMs = performance.now();
    if (!audio.ended || slot.endSent) return;
    slot.endSent = true;
    slot.process.send({ type: "end" });
    slot.timer = setTimeout(() => {
      this.#fail(task, new AppError("upstream_timeout", "The recognizer took too long for an utterance."));
      this.#drop(slot);
      this.#assign();
    }, longestMs).unref();
  }

  /** An utterance whose sound does not come makes room for one that is whole; it is decoded anew when it is whole, too. */
  #putOffStarved(): void {
    const open = [...this.#slots].filter(({ endSent, task }) => task !== undefined && !endSent);
    if (open.length === 0) return;
    const starved = open.find(({ lastSentMs }) => performance.now() - lastSentMs >= patienceMs);
    if (starved === undefined) {
      this.#patienceTimer ??= setTimeout(() => {
        this.#patienceTimer = undefined;
        this.#assign();
      }, patienceMs).unref();
      return;
    }
    const { task } = starved;
    if (task !== undefined) {
      task.putOff = true;
      task.slot = undefined;
      this.#waiting.push(task);
    }
    this.#drop(starved);
    this.#assign();
  }

  async #start(): Promise<void> {
    this.#starting += 1;
    try {
      const process = await startRecognizer(this.#options.installation());
      if (this.#closed) process.stop();
      else this.#add(process);
    } catch (error) {
      this.#options.logger.error({ error }, "a recognizer process did not start");
      for (const task of this.#waiting.filter(canStart)) this.#fail(task, error);
    } finally {
      this.#starting -= 1;
    }
    if (!this.#closed) this.#assign();
  }

  #add(process: RecognizerProcess): void {
    const slot: Slot = {
      process,
      task: undefined,
      sentPieces: 0,
      lastSentMs: 0,
      endSent: false,
      timer: undefined,
    };
    this.#slots.add(slot);
    process.listen((understanding) => {
      const { task } = slot;
      if (understanding.type === "result") {
        if (task !== undefined && understanding.words.length > 0) task.job.share.mean = understanding.mean;
        this.#free(slot);
      }
      task?.job.onUnderstood(understanding);
      if (understanding.type === "result") this.#assign();
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
    // The decoder cannot be told to forget an utterance: ending it would cost more than a new process.
    this.#drop(slot);
    this.#assign();
  }

  #fail(task: Task, error: unknown): void {
    if (task.over) return;
    this.#finish(task);
    task.job.onFailure(error);
  }

  /** Nothing more is said of the task. */
  #finish(task: Task): void {
    task.over = true;
    task.slot = undefined;
    task.job.audio.watch(undefined);
    task.listener[Symbol.dispose]();
    this.#waiting = this.#waiting.filter((each) => each !== task);
  }

  /** The slot can have another task. */
  #free(slot: Slot): void {
    clearTimeout(slot.timer);
    if (slot.task !== undefined) this.#finish(slot.task);
    slot.task = undefined;
    slot.sentPieces = 0;
    slot.endSent = false;
  }

  /** The process is not needed, or not trusted, any more. */
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

function canStart({ job: { audio, partials }, putOff }: Task): boolean {
  return audio.ended || (partials && !putOff && audio.length >= firstSamples);
}

function shuttingDown(): AppError {
  return new AppError("overloaded", "The recognizer is shutting down.", { retryAfterMs: 1_000 });
}

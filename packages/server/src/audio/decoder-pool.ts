/**
 * Runs the worker threads that decode compressed recordings, one recording per thread, fair between organizations.
 * A worker that is terminated therefore affects no other recording.
 */
import { AppError } from "../errors.ts";
import { FairQueue } from "../scheduling/fair-queue.ts";
import { inputLimit } from "../input-limits.ts";
import type { Logger } from "../logger.ts";
import { siblingScript } from "../child-process/sibling-script.ts";
import { WatchedWorker, type WorkerEnd, type WorkerLimits } from "../child-process/watched-worker.ts";
import type { AudioInput } from "./audio-input.ts";
import type { FromDecoder } from "./decoder-protocol.ts";
import type { DecoderSlot, DecoderSlots, DecodedRecording } from "./decoder-slot.ts";
import { Decoding, type DecodingJob } from "./decoding.ts";

const area = "Transcription and audio";
/** What a decoder may use. A file in normal use takes about 30 MiB. */
export const decoderLimits: WorkerLimits = {
  stallCpuMs: inputLimit({
    area,
    bounds: "CPU time of an audio decoder without progress",
    value: 2_000,
    unit: "ms",
    error: "invalid_request",
  }),
  heapMiB: 128,
  buffersMiB:
    inputLimit({
      area,
      bounds: "Memory of an audio decoder for samples and bytes",
      value: 256 * 2 ** 20,
      unit: "bytes",
      error: "invalid_request",
    }) /
    2 ** 20,
};
const mostWaitingRecordings = inputLimit({
  area,
  bounds: "Recordings that wait for a decoder",
  value: 1_000,
  error: "overloaded",
});
/** Workers without work end after this time; one stays. */
const idleMs = 30_000;
/** How often the pool looks for a worker to free while recordings wait. */
const makeRoomEveryMs = 100;
/** Minimum time that a recording keeps its worker; it doubles with every eviction. */
const leastTenureMs = 500;

export interface DecoderPoolOptions {
  readonly workers: number;
  readonly logger: Logger;
  readonly limits?: WorkerLimits;
}

interface Taken {
  readonly recording: DecodedRecording;
  readonly sinceMs: number;
}

const script = siblingScript(import.meta.url, "decoder-worker");

export class DecoderPool implements DecoderSlots {
  readonly #options: DecoderPoolOptions;
  readonly #queue: FairQueue;
  readonly #threads = new Set<Thread>();
  readonly #idle: Thread[] = [];
  readonly #taken = new Set<Taken>();
  /** Recordings that wait, by owner. */
  readonly #waiting = new Map<string, number>();
  #roomTimer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: DecoderPoolOptions) {
    this.#options = options;
    this.#queue = new FairQueue({
      places: options.workers,
      maxWaiting: mostWaitingRecordings,
      what: "The audio decoder pool",
    });
  }

  /**
   * Decodes up to the first samples.
   * @throws AppError `invalid_request` for a damaged file, `unsupported_media_type` for sound that is not read, `overloaded`
   */
  open(job: DecodingJob): Promise<AudioInput> {
    return Decoding.open(this, job);
  }

  /** Waits for a worker. @throws AppError `overloaded`; the signal's reason */
  async take(recording: DecodedRecording, signal: AbortSignal): Promise<DecoderSlot> {
    const release = await this.#enter(recording.owner, signal);
    const thread = this.#idle.pop() ?? this.#start();
    const taken: Taken = { recording, sinceMs: performance.now() };
    this.#taken.add(taken);
    let left = false;
    const leave = (): boolean => {
      if (left) return false;
      left = true;
      this.#taken.delete(taken);
      return true;
    };
    thread.take(recording, () => {
      leave();
      release();
    });
    return {
      post: (message, transfer) => {
        if (!left) thread.worker.post(message, transfer);
      },
      finish: () => {
        if (leave()) thread.finish(() => this.#rest(thread));
      },
      leave: () => {
        if (!leave()) return;
        release();
        void this.#dismiss(thread);
        this.#keepWarm();
      },
    };
  }

  /** Terminates all workers; recordings that are being decoded fail. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#roomTimer);
    const error = new AppError("overloaded", "The server is shutting down. Retry later.");
    this.#queue.close(error);
    for (const { recording } of this.#taken) recording.onEnd({ reason: "crashed", error });
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  async #enter(owner: string, signal: AbortSignal): Promise<() => void> {
    this.#waiting.set(owner, (this.#waiting.get(owner) ?? 0) + 1);
    this.#roomTimer ??= setInterval(() => this.#makeRoom(), makeRoomEveryMs).unref();
    try {
      return await this.#queue.enter(owner, signal);
    } finally {
      const others = this.#waiting.get(owner)! - 1;
      if (others > 0) this.#waiting.set(owner, others);
      else this.#waiting.delete(owner);
    }
  }

  /**
   * Frees a worker for queued recordings. A slow upload, or a recording that waits for its engine, must not occupy a decoder
   * that others need, and an organization with many long recordings must not occupy all decoders.
   */
  #makeRoom(): void {
    if (this.#waiting.size === 0) {
      clearInterval(this.#roomTimer);
      this.#roomTimer = undefined;
      return;
    }
    const nowMs = performance.now();
    const held = Map.groupBy(this.#taken, ({ recording }) => recording.owner);
    const somebodyHasNone = [...this.#waiting.keys()].some((owner) => !held.has(owner));
    const sinceMs = ({ recording, sinceMs: takenMs }: Taken): number => {
      if (!recording.canBeEvicted) return Infinity;
      const has = held.get(recording.owner)!.length;
      return somebodyHasNone && has > 1 ? takenMs : (recording.waitingSinceMs() ?? Infinity);
    };
    const longest = [...this.#taken]
      .filter((taken) => nowMs - sinceMs(taken) > leastTenureMs * 2 ** taken.recording.evictions)
      .sort((one, other) => sinceMs(one) - sinceMs(other));
    longest[0]?.recording.evict();
  }

  #start(): Thread {
    const thread: Thread = new Thread(this.#options.limits ?? decoderLimits, ({ reason, error }, wasTaken) => {
      this.#threads.delete(thread);
      this.#forget(thread);
      const { logger } = this.#options;
      if (reason === "crashed") logger.warn({ error }, "an audio decoder worker crashed");
      else logger.debug({ reason, error }, "an audio decoder worker was terminated");
      if (wasTaken) this.#keepWarm();
    });
    this.#threads.add(thread);
    return thread;
  }

  #rest(thread: Thread): void {
    if (this.#closed) return;
    this.#idle.push(thread);
    thread.restFor(idleMs, () => {
      if (this.#idle.length < 2) return;
      this.#forget(thread);
      void this.#dismiss(thread);
    });
  }

  #forget(thread: Thread): void {
    const place = this.#idle.indexOf(thread);
    if (place !== -1) this.#idle.splice(place, 1);
  }

  async #dismiss(thread: Thread): Promise<void> {
    await thread.end();
    this.#threads.delete(thread);
  }

  /** The next recording should not wait for a thread to start. */
  #keepWarm(): void {
    if (!this.#closed && this.#idle.length === 0) this.#rest(this.#start());
  }
}

/** A worker, and the recording that it decodes. */
class Thread {
  readonly worker: WatchedWorker;
  #recording: DecodedRecording | undefined;
  /** Gives the place in the pool back. */
  #release: (() => void) | undefined;
  #onFree: () => void = () => {};
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(limits: WorkerLimits, onEnd: (end: WorkerEnd, wasTaken: boolean) => void) {
    this.worker = new WatchedWorker(script, limits, {
      onMessage: (message) => this.#take(message as FromDecoder),
      onEnd: (end) => {
        clearInterval(this.#idleTimer);
        const recording = this.#recording;
        const release = this.#release;
        release?.();
        onEnd(end, release !== undefined);
        recording?.onEnd(end);
      },
    });
  }

  take(recording: DecodedRecording, release: () => void): void {
    clearInterval(this.#idleTimer);
    this.#recording = recording;
    this.#release = release;
    this.worker.watch(() => recording.earnedMs());
  }

  /** The recording has everything. The thread is watched until it is free. */
  finish(onFree: () => void): void {
    this.#recording = undefined;
    this.#onFree = onFree;
  }

  /** @param onIdle called when the thread has been idle for this long */
  restFor(ms: number, onIdle: () => void): void {
    this.worker.unwatch();
    clearInterval(this.#idleTimer);
    this.#idleTimer = setInterval(onIdle, ms).unref();
  }

  async end(): Promise<void> {
    clearInterval(this.#idleTimer);
    await this.worker.terminate();
  }

  #take(message: FromDecoder): void {
    if (message.type !== "free") return this.#recording?.onMessage(message);
    const release = this.#release;
    this.#release = undefined;
    this.#onFree();
    release?.();
  }
}

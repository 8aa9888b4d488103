/**
 * Drives the decoding of one compressed recording in a worker, with back-pressure in both directions.
 * A recording that loses its worker to others is decoded again later, from its beginning to where it was.
 */
import { onAbort } from "../abort.ts";
import { AppError } from "../errors.ts";
import type { WorkerEnd } from "../child-process/watched-worker.ts";
import type { AudioInput, AudioLimits } from "./audio-input.ts";
import type { ByteReader } from "./byte-reader.ts";
import { type CompressedKind, kindNames } from "./compressed-kind.ts";
import { damaged } from "./decoded-audio.ts";
import { DecoderFeed } from "./decoder-feed.ts";
import { type FromDecoder, piecesAhead } from "./decoder-protocol.ts";
import type { DecodedRecording, DecoderSlot, DecoderSlots } from "./decoder-slot.ts";

export interface DecodingJob {
  /** Reads the file from its beginning. */
  readonly reader: ByteReader;
  /** Gives the file again; absent where that is not possible, which keeps the recording in its worker. */
  readonly reopen?: (() => AsyncIterable<Uint8Array>) | undefined;
  readonly kind: CompressedKind;
  readonly limits: AudioLimits;
  readonly owner?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

type Samples = Float32Array<ArrayBuffer>;

/** Bytes and values of samples for which a decoder may use a millisecond of CPU time: a tenth of its normal speed or less. */
const progressPerMs = 500;

/** What a worker has read and decoded. Its own counter is shared, and wraps. */
class DecoderProgress {
  readonly #counter = new Int32Array(new SharedArrayBuffer(4));
  #last = 0;
  #total = 0;

  get buffer(): SharedArrayBuffer {
    return this.#counter.buffer;
  }

  total(): number {
    const now = Atomics.load(this.#counter, 0);
    this.#total += (now - this.#last) >>> 0;
    this.#last = now;
    return this.#total;
  }
}

export class Decoding implements AudioInput, DecodedRecording {
  readonly encoding: string;
  readonly owner: string;
  sampleRate = 0;
  channels = 0;
  evictions = 0;
  readonly #slots: DecoderSlots;
  readonly #job: DecodingJob;
  readonly #progress = new DecoderProgress();
  readonly #controller = new AbortController();
  readonly #abortListener: Disposable | undefined;
  readonly #feed: DecoderFeed;
  /** The worker that decodes the recording. */
  #slot: DecoderSlot | undefined;
  #isTakingSlot = false;
  /** Since when the queue of samples has been full without a reader. */
  #fullSinceMs: number | undefined;
  #rate: number | undefined;
  #pieces: Samples[] = [];
  #receivedCount = 0;
  #heardCount = 0;
  #outcome: { readonly error?: unknown } | undefined;
  /** Resolved, and replaced, when something happened that a reader of the samples may wait for. */
  #change = Promise.withResolvers<void>();

  static async open(slots: DecoderSlots, job: DecodingJob): Promise<Decoding> {
    const decoding = new Decoding(slots, job);
    while (decoding.sampleRate === 0) {
      if (decoding.#outcome !== undefined) throw decoding.#outcome.error;
      await decoding.#untilChange();
    }
    return decoding;
  }

  private constructor(slots: DecoderSlots, job: DecodingJob) {
    this.#slots = slots;
    this.#job = job;
    this.#feed = new DecoderFeed(job.reader, job.reopen);
    this.encoding = kindNames[job.kind];
    this.owner = job.owner ?? "";
    this.#abortListener = job.signal && onAbort(job.signal, () => this.#abort());
  }

  get heardSeconds(): number {
    return this.#heardCount / this.sampleRate;
  }

  get canBeEvicted(): boolean {
    return this.#job.reopen !== undefined;
  }

  /** Its first samples are decoded before it is returned. */
  async hasSound(): Promise<boolean> {
    return true;
  }

  async *open(rate = this.sampleRate): AsyncGenerator<Samples, void, undefined> {
    this.#rate = rate;
    this.#fullSinceMs = undefined;
    this.#slot?.post({ type: "play", playing: { rate, skip: 0 } });
    try {
      for (;;) {
        const piece = this.#pieces.shift();
        if (piece !== undefined) {
          this.#fullSinceMs = undefined;
          this.#slot?.post({ type: "taken" });
          yield piece;
        } else if (this.#outcome === undefined) await this.#untilChange();
        else if ("error" in this.#outcome) throw this.#outcome.error;
        else return;
      }
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    this.#pieces = [];
    this.#end({});
    await this.#feed.closed;
  }

  earnedMs(): number {
    return this.#progress.total() / progressPerMs;
  }

  waitingSinceMs(): number | undefined {
    return this.#fullSinceMs ?? this.#feed.waitingSinceMs;
  }

  onMessage(message: FromDecoder): void {
    if (message.type === "read") this.#feed.send(this.#slot!);
    else if (message.type === "opened") {
      this.sampleRate = message.sampleRate;
      this.channels = message.channels;
      if (this.#rate === undefined) this.#fullSinceMs = performance.now();
    } else if (message.type === "samples") {
      this.#pieces.push(message.samples);
      this.#receivedCount += message.samples.length;
      this.#heardCount = message.heard;
      if (this.#pieces.length >= piecesAhead) this.#fullSinceMs = performance.now();
    } else if (message.type === "end") {
      this.#heardCount = message.heard;
      this.#slot!.finish();
      this.#end({});
    } else if (message.type === "error") {
      const { code, message: text, param } = message;
      this.#slot!.finish();
      this.#end(this.#feed.failure ?? { error: new AppError(code, text, { param: param ?? undefined }) });
    }
    this.#notify();
  }

  onEnd({ reason, error }: WorkerEnd): void {
    if (error instanceof AppError) return this.#end({ error });
    const why = {
      stalled: "its decoder makes no progress",
      memory: "decoding it needs too much memory",
      crashed: "its decoder crashed",
    }[reason];
    this.#end({ error: damaged(this.encoding, why, error) });
  }

  evict(): void {
    this.evictions += 1;
    this.#leaveSlot();
    this.#notify();
  }

  #abort(): void {
    this.#pieces = [];
    this.#end({ error: this.#job.signal!.reason });
  }

  /** Sees to it that a worker is at work, and waits until something happens. */
  async #untilChange(): Promise<void> {
    if (this.#slot === undefined && !this.#isTakingSlot) {
      this.#isTakingSlot = true;
      this.#takeSlot()
        .catch((error: unknown) => this.#end({ error }))
        .finally(() => (this.#isTakingSlot = false));
    }
    await this.#change.promise;
  }

  async #takeSlot(): Promise<void> {
    // A decoding that lost its worker while it waited for its upload resumes when more of it arrives.
    await this.#feed.idle;
    const slot = await this.#slots.take(this, this.#controller.signal);
    if (this.#outcome !== undefined) return slot.leave();
    this.#slot = slot;
    this.#feed.open();
    const { kind, limits } = this.#job;
    const playing = this.#rate === undefined ? undefined : { rate: this.#rate, skip: this.#receivedCount };
    slot.post({
      type: "start",
      kind,
      maxSeconds: limits.maxSeconds,
      progress: this.#progress.buffer,
      playing,
    });
    // The credit of pieces that wait here was the earlier worker's.
    this.#fullSinceMs = undefined;
  }

  #end(outcome: { readonly error?: unknown }): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = outcome;
    this.#abortListener?.[Symbol.dispose]();
    this.#controller.abort(
      "error" in outcome ? outcome.error : new AppError("client_closed", "The recording was closed."),
    );
    this.#leaveSlot();
    this.#notify();
  }

  #leaveSlot(): void {
    this.#slot?.leave();
    this.#slot = undefined;
    this.#fullSinceMs = undefined;
    this.#feed.stop();
  }

  #notify(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }
}

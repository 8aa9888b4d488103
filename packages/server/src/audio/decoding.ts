/**
 * Drives the decoding of one compressed recording in a worker, with back-pressure in both directions.
 * A recording that loses its worker to others is decoded again later, from its beginning to where it was.
 */
import { onAbort } from "../abort.ts";
import { AppError } from "../errors.ts";
import type { WorkerEnd } from "../child-process/watched-worker.ts";
import type { AudioInput, AudioLimits } from "./audio-input.ts";
import { type ByteReader, createByteReader } from "./byte-reader.ts";
import { type CompressedKind, kindNames } from "./compressed-kind.ts";
import { damaged } from "./decoded-audio.ts";
import { type FromDecoder, piecesAhead } from "./decoder-protocol.ts";
import type { DecoderSlot, DecoderSlots, Tenant } from "./decoder-slot.ts";

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

/** Bytes per message to the worker. */
const readBytes = 64 * 1024;
/** Bytes and values of samples for which a decoder may use a millisecond of CPU time: a tenth of its normal speed or less. */
const progressPerMs = 500;

export class Decoding implements AudioInput, Tenant {
  readonly encoding: string;
  readonly owner: string;
  sampleRate = 0;
  channels = 0;
  evictions = 0;
  readonly #slots: DecoderSlots;
  readonly #job: DecodingJob;
  readonly #progress = new Int32Array(new SharedArrayBuffer(4));
  #lastProgress = 0;
  #earned = 0;
  readonly #controller = new AbortController();
  readonly #abortListener: Disposable | undefined;
  #reader: ByteReader | undefined;
  /** The bytes that the worker requested are being read. */
  #feeding: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #seat: DecoderSlot | undefined;
  #sitting = false;
  #readSinceMs: number | undefined;
  /** Since when the queue of samples has been full without a reader. */
  #fullSinceMs: number | undefined;
  #rate: number | undefined;
  #pieces: Samples[] = [];
  #receivedCount = 0;
  #heardCount = 0;
  #sourceFailure: { readonly error: unknown } | undefined;
  #over: { readonly error?: unknown } | undefined;
  /** Resolved, and replaced, when something happened that a reader of the samples may wait for. */
  #change = Promise.withResolvers<void>();

  static async open(slots: DecoderSlots, job: DecodingJob): Promise<Decoding> {
    const decoding = new Decoding(slots, job);
    while (decoding.sampleRate === 0) {
      if (decoding.#over !== undefined) throw decoding.#over.error;
      await decoding.#untilChange();
    }
    return decoding;
  }

  private constructor(slots: DecoderSlots, job: DecodingJob) {
    this.#slots = slots;
    this.#job = job;
    this.#reader = job.reader;
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
    this.#seat?.post({ type: "play", playing: { rate, skip: 0 } });
    try {
      for (;;) {
        const piece = this.#pieces.shift();
        if (piece !== undefined) {
          this.#fullSinceMs = undefined;
          this.#seat?.post({ type: "taken" });
          yield piece;
        } else if (this.#over === undefined) await this.#untilChange();
        else if ("error" in this.#over) throw this.#over.error;
        else return;
      }
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    this.#pieces = [];
    this.#end({});
    await this.#closing;
  }

  earnedMs(): number {
    const now = Atomics.load(this.#progress, 0);
    this.#earned += (now - this.#lastProgress) >>> 0;
    this.#lastProgress = now;
    return this.#earned / progressPerMs;
  }

  waitingSinceMs(): number | undefined {
    return this.#fullSinceMs ?? this.#readSinceMs;
  }

  onMessage(message: FromDecoder): void {
    if (message.type === "read") this.#feeding = this.#feed(this.#seat!, this.#reader!);
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
      this.#seat!.finish();
      this.#end({});
    } else if (message.type === "error") {
      const { code, message: text, param } = message;
      this.#seat!.finish();
      this.#end(this.#sourceFailure ?? { error: new AppError(code, text, { param: param ?? undefined }) });
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
    this.#leave();
    this.#notify();
  }

  #abort(): void {
    this.#pieces = [];
    this.#end({ error: this.#job.signal!.reason });
  }

  /** Sees to it that a worker is at work, and waits until something happens. */
  async #untilChange(): Promise<void> {
    if (this.#seat === undefined && !this.#sitting) {
      this.#sitting = true;
      this.#sit()
        .catch((error: unknown) => this.#end({ error }))
        .finally(() => (this.#sitting = false));
    }
    await this.#change.promise;
  }

  async #sit(): Promise<void> {
    // A decoding that lost its worker while it waited for its upload resumes when more of it arrives.
    await this.#feeding;
    const seat = await this.#slots.take(this, this.#controller.signal);
    if (this.#over !== undefined) return seat.leave();
    this.#seat = seat;
    this.#reader ??= createByteReader(this.#job.reopen!());
    const { kind, limits } = this.#job;
    const playing = this.#rate === undefined ? undefined : { rate: this.#rate, skip: this.#receivedCount };
    seat.post({
      type: "start",
      kind,
      maxSeconds: limits.maxSeconds,
      progress: this.#progress.buffer,
      playing,
    });
    // The credit of pieces that wait here was the earlier worker's.
    this.#fullSinceMs = undefined;
  }

  async #feed(seat: DecoderSlot, reader: ByteReader): Promise<void> {
    this.#readSinceMs = performance.now();
    try {
      const piece = await reader.readSome(readBytes);
      // A copy with its own buffer, which is transferred.
      const bytes = piece === null ? null : new Uint8Array(piece);
      seat.post({ type: "bytes", bytes }, bytes === null ? [] : [bytes.buffer]);
    } catch (error) {
      if (this.#seat === seat) this.#sourceFailure = { error };
      seat.post({ type: "bytes", bytes: "failed" });
    }
    this.#feeding = undefined;
    if (this.#seat === seat) this.#readSinceMs = undefined;
    else this.#closeReader(reader);
  }

  #end(over: { readonly error?: unknown }): void {
    if (this.#over !== undefined) return;
    this.#over = over;
    this.#abortListener?.[Symbol.dispose]();
    this.#controller.abort("error" in over ? over.error : new AppError("client_closed", "The recording was closed."));
    this.#leave();
    this.#notify();
  }

  #leave(): void {
    this.#seat?.leave();
    this.#seat = undefined;
    this.#readSinceMs = undefined;
    this.#fullSinceMs = undefined;
    // A reader that waits for the upload is closed when the upload continues.
    if (this.#feeding === undefined && this.#reader !== undefined) this.#closeReader(this.#reader);
    this.#reader = undefined;
  }

  #closeReader(reader: ByteReader): void {
    // Errors while closing a source that is no longer read do not matter.
    this.#closing = reader.close().catch(() => {});
  }

  #notify(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }
}

/**
 * Decodes compressed recordings in a worker thread, one after another: bytes in, mono samples at the requested rate out.
 * The server paces the output. Any failure means that the file is damaged.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { parentPort } from "node:worker_threads";
import { AppError } from "../errors.ts";
import { createByteReader } from "./byte-reader.ts";
import { kindNames } from "./compressed-kind.ts";
import { decodeCompressed } from "./decode-compressed.ts";
import { damaged, type DecodedAudio, toSampleSource } from "./decoded-audio.ts";
import { type FromDecoder, pieceSamples, piecesAhead, type DecodeRequest, type ToDecoder } from "./decoder-protocol.ts";
import { createResampler } from "./resampler.ts";
import { joinSamples } from "./samples.ts";

// Decoders report every damaged frame.
for (const method of ["debug", "error", "info", "log", "warn"] as const) console[method] = () => {};
for (const stream of [process.stdout, process.stderr]) stream.write = () => true;
// Libraries leave pending promises when they are interrupted.
process.on("unhandledRejection", () => {});

type Start = Extract<ToDecoder, { type: "start" }>;
type Bytes = Extract<ToDecoder, { type: "bytes" }>["bytes"];

/** Longest turn before messages from the server are handled, in milliseconds. */
const longestTurnMs = 20;

/**
 * The recording being decoded. Meanwhile the port keeps the thread alive only while a reply from the server is pending: if a
 * library awaits a promise that never settles (Mediabunny 1.61.0 with some MP4 files), the event loop empties and the thread exits.
 */
let current: DecoderSession | undefined;

parentPort!.on("message", (message: ToDecoder) => {
  if (message.type === "start") {
    current = new DecoderSession(message);
    parentPort!.unref();
    void decode(message, current);
  } else current?.take(message);
});

function send(message: FromDecoder, transfer: ArrayBuffer[] = []): void {
  parentPort!.postMessage(message, transfer);
}

async function decode({ kind, maxSeconds }: Start, session: DecoderSession): Promise<void> {
  const format = kindNames[kind];
  try {
    const sounds = session.counted(decodeCompressed(kind, createByteReader(session.bytes())));
    const source = await toSampleSource(sounds, { format, limits: { maxSeconds } });
    send({ type: "opened", sampleRate: source.sampleRate, channels: source.channels });
    const resampler = await createResampler(source.sampleRate, await session.rate());
    let turnMs = performance.now();
    let heard = 0;
    for await (const samples of source.samples) {
      for (let from = 0; from < samples.length; from += pieceSamples) {
        const piece = samples.subarray(from, from + pieceSamples);
        heard += piece.length;
        await session.push(resampler.push(piece), heard);
        if (performance.now() - turnMs < longestTurnMs) continue;
        await nextTurn();
        turnMs = performance.now();
      }
    }
    await session.push(resampler.end(), heard);
    await session.finish();
    leave();
    send({ type: "end", heard });
  } catch (thrown) {
    leave();
    const error = thrown instanceof AppError ? thrown : damaged(format, "its decoder crashed", thrown);
    send({ type: "error", code: error.code, message: error.message, param: error.param });
  }
  // A loop in a library would never let this run.
  await nextTurn();
  send({ type: "free" });
}

function leave(): void {
  current = undefined;
  parentPort!.ref();
}

/** The worker's side of one recording. */
class DecoderSession {
  readonly #progress: Int32Array;
  readonly #playing = Promise.withResolvers<DecodeRequest>();
  /** Answers of the server that are waited for. */
  #owed = 0;
  #bytes = Promise.withResolvers<Bytes>();
  #skip = 0;
  /** Pieces that may be sent. */
  #credit = piecesAhead;
  #credited = Promise.withResolvers<void>();
  #waiting: Float32Array[] = [];
  #waitingCount = 0;
  #heard = 0;

  constructor({ progress, playing }: Start) {
    this.#progress = new Int32Array(progress);
    if (playing !== undefined) this.#playing.resolve(playing);
  }

  take(message: Exclude<ToDecoder, Start>): void {
    if (message.type === "play") this.#playing.resolve(message.playing);
    else if (message.type === "bytes") this.#bytes.resolve(message.bytes);
    else {
      this.#credit += 1;
      this.#credited.resolve();
    }
  }

  /** The recording. What is decoded is sent before the worker waits for more of it. */
  async *bytes(): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      // A library's requests after the end of the recording get no response.
      if (current !== this) return;
      if (this.#credit > 0) this.#sendPiece();
      this.#bytes = Promise.withResolvers();
      send({ type: "read" });
      const bytes = await this.#fromServer(this.#bytes.promise);
      if (bytes === null) return;
      if (bytes === "failed") throw new Error("The source of the recording failed.");
      Atomics.add(this.#progress, 0, bytes.length);
      yield bytes;
    }
  }

  async *counted(sounds: AsyncGenerator<DecodedAudio, void, undefined>): AsyncGenerator<DecodedAudio, void, undefined> {
    for await (const sound of sounds) {
      Atomics.add(this.#progress, 0, sound.samplesDecoded * sound.channelData.length);
      yield sound;
    }
  }

  /** Waits until the samples are requested. */
  async rate(): Promise<number> {
    const { rate, skip } = await this.#fromServer(this.#playing.promise);
    this.#skip = skip;
    return rate;
  }

  /** @param heard samples of the recording from which everything so far was made */
  async push(samples: Float32Array, heard: number): Promise<void> {
    this.#heard = heard;
    const skipped = Math.min(this.#skip, samples.length);
    this.#skip -= skipped;
    for (let from = skipped; from < samples.length; from += pieceSamples) {
      const piece = samples.subarray(from, from + pieceSamples);
      if (this.#waitingCount + piece.length > pieceSamples) await this.finish();
      this.#waiting.push(piece);
      this.#waitingCount += piece.length;
    }
  }

  /** Flushes the buffered samples as soon as the server grants credit. */
  async finish(): Promise<void> {
    while (this.#credit === 0) {
      this.#credited = Promise.withResolvers();
      await this.#fromServer(this.#credited.promise);
    }
    this.#sendPiece();
  }

  async #fromServer<T>(answer: Promise<T>): Promise<T> {
    this.#owed += 1;
    if (current === this) parentPort!.ref();
    try {
      return await answer;
    } finally {
      this.#owed -= 1;
      if (current === this && this.#owed === 0) parentPort!.unref();
    }
  }

  #sendPiece(): void {
    if (this.#waitingCount === 0) return;
    this.#credit -= 1;
    const samples = joinSamples(this.#waiting);
    this.#waiting = [];
    this.#waitingCount = 0;
    send({ type: "samples", samples, heard: this.#heard }, [samples.buffer]);
  }
}

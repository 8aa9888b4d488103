/** Passes one utterance through the front end and the decoder. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { modelRate, type RecognizedWord } from "../protocol.ts";
import { mostFrames, type Decoder } from "./decoder.ts";
import { coefficients, createMelCepstrum, frameMs } from "./mel-cepstrum.ts";

/**
 * Decoding of an unfinished utterance starts after this pause in its input. A fast upload is complete by then, so the
 * mean is that of the whole utterance.
 */
const stallMs = 100;
/** Sound that must be there before, so that its mean means something. */
const firstFrames = 90;
/** Frames as which the mean of an earlier utterance counts. */
const earlierFrames = 150;
/** Frames between two partial results. */
const partialFrames = 10;

export interface Utterance {
  push(samples: Int16Array): void;
  end(): void;
}

interface Listener {
  onPartial(heardMs: number, words: RecognizedWord[]): void;
  onResult(words: RecognizedWord[], mean: Float64Array): void;
  onFailure(error: unknown): void;
}

/** Starts an utterance. With `partials` it is decoded as it arrives, else once it is complete. */
export function beginUtterance(
  decoder: Decoder,
  { partials, mean: earlier }: { partials: boolean; mean: Float64Array | undefined },
  listener: Listener,
): Utterance {
  const cepstrum = createMelCepstrum();
  const mean = createMean(earlier);
  const frames: Float32Array[] = [];
  let decoded = 0;
  let looked = 0;
  let ended = false;
  let running = false;
  let begun = false;

  const decodeSome = (): void => {
    const next = frames.splice(0, mostFrames);
    decoder.decode(next.map((frame) => mean.takeFrom(frame)));
    decoded += next.length;
    if (!partials || decoded - looked < partialFrames) return;
    looked = decoded;
    listener.onPartial(decoded * frameMs, decoder.partialWords());
  };
  const hasWork = (): boolean => frames.length >= mostFrames || (ended && frames.length > 0);
  const run = async (): Promise<void> => {
    if (running) return;
    running = true;
    try {
      while (hasWork()) {
        if (!begun) decoder.begin();
        begun = true;
        decodeSome();
        await nextTurn();
      }
      if (ended) listener.onResult(begun ? decoder.end() : [], mean.value());
    } catch (error) {
      listener.onFailure(error);
    } finally {
      running = false;
    }
  };
  let stalled: NodeJS.Timeout | undefined;
  const take = (more: readonly Float32Array[]): void => {
    for (const frame of more) mean.add(frame);
    frames.push(...more);
    clearTimeout(stalled);
    if (ended || begun) void run();
    else if (partials && frames.length >= firstFrames) stalled = setTimeout(() => void run(), stallMs);
  };

  return {
    push(samples) {
      // In parts, so that a long utterance does not keep messages waiting.
      for (let start = 0; start < samples.length; start += modelRate) {
        take(cepstrum.push(samples.subarray(start, start + modelRate)));
      }
    },
    end() {
      ended = true;
      take(cepstrum.end());
    },
  };
}

interface Mean {
  add(frame: Float32Array): void;
  takeFrom(frame: Float32Array): Float32Array;
  /** Of all frames so far. */
  value(): Float64Array;
}

/**
 * The mean of all frames so far, which is what the microphone and the room add to speech.
 * @param earlier the mean of an earlier utterance, used for audio that has not arrived yet
 */
function createMean(earlier: Float64Array | undefined): Mean {
  const sum = new Float64Array(coefficients);
  let count = 0;
  return {
    add(frame) {
      for (let index = 0; index < coefficients; index += 1) sum[index] = sum[index]! + frame[index]!;
      count += 1;
    },
    takeFrom(frame) {
      const weight = earlier === undefined ? 0 : Math.max(0, earlierFrames - count);
      return frame.map((value, index) => value - (sum[index]! + weight * (earlier?.[index] ?? 0)) / (count + weight));
    },
    value: () => sum.map((each) => each / Math.max(count, 1)),
  };
}

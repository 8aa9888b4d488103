/** Passes one utterance through the front end and the decoder. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { modelRate, type RecognizedWord } from "../protocol.ts";
import { mostFrames, type Decoder } from "./decoder.ts";
import { coefficients, createMelCepstrum } from "./mel-cepstrum.ts";

export interface Utterance {
  push(samples: Int16Array): void;
  end(): void;
}

interface Listener {
  onResult(words: RecognizedWord[]): void;
  onFailure(error: unknown): void;
}

/** Starts an utterance, which is decoded once it is complete. */
export function beginUtterance(decoder: Decoder, listener: Listener): Utterance {
  const cepstrum = createMelCepstrum();
  const frames: Float32Array[] = [];

  const decode = async (): Promise<void> => {
    if (frames.length === 0) return listener.onResult([]);
    const mean = meanOf(frames);
    decoder.begin();
    for (let start = 0; start < frames.length; start += mostFrames) {
      const next = frames.slice(start, start + mostFrames);
      decoder.decode(next.map((frame) => frame.map((value, index) => value - mean[index]!)));
      await nextTurn();
    }
    listener.onResult(decoder.end());
  };

  return {
    push(samples) {
      // In parts, so that a long utterance does not keep messages waiting.
      for (let start = 0; start < samples.length; start += modelRate) {
        frames.push(...cepstrum.push(samples.subarray(start, start + modelRate)));
      }
    },
    end() {
      frames.push(...cepstrum.end());
      decode().catch((error: unknown) => listener.onFailure(error));
    },
  };
}

/**
 * The mean of the frames with sound, which is what the microphone and the room add to speech. Silence is left out, as by
 * sphinxbase's `cmn.c`: in a short recording it would be most of the mean.
 */
function meanOf(frames: readonly Float32Array[]): Float64Array {
  const sum = new Float64Array(coefficients);
  const sounding = frames.filter((frame) => frame[0]! >= 0);
  for (const frame of sounding) {
    for (let index = 0; index < coefficients; index += 1) sum[index] = sum[index]! + frame[index]!;
  }
  return sum.map((each) => each / Math.max(1, sounding.length));
}

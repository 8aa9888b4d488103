/** A recording in memory, like an upload. */
import { createResampler } from "../../src/audio/resampler.ts";
import type { RecordedAudio } from "../../src/engines/engine.ts";

/** In pieces of 4 000 samples. */
export function recordedAudio(samples: Float32Array, sampleRate: number): RecordedAudio {
  return {
    sampleRate,
    async *open(rate = sampleRate) {
      const resampler = await createResampler(sampleRate, rate);
      for (let at = 0; at < samples.length; at += 4_000) {
        const piece = resampler.push(samples.slice(at, at + 4_000));
        if (piece.length > 0) yield Float32Array.from(piece);
      }
      yield Float32Array.from(resampler.end());
    },
  };
}

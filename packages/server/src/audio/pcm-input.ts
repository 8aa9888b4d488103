/** Turns uncompressed samples (WAV, raw PCM) into an `AudioInput`, resampled in slices that yield to other requests. */
import { longStep, CooperativeYield } from "../scheduling/cooperative-yield.ts";
import type { AudioInput, SampleSource } from "./audio-input.ts";
import { createResampler } from "./resampler.ts";

export function toAudioInput({ sampleRate, channels, encoding, bytesPerSecond, samples }: SampleSource): AudioInput {
  const iterator = samples[Symbol.asyncIterator]();
  let first: Promise<IteratorResult<Float32Array>> | undefined;
  let heardCount = 0;

  async function* open(rate = sampleRate): AsyncGenerator<Float32Array<ArrayBuffer>, void, undefined> {
    const yielder = new CooperativeYield();
    try {
      const resampler = await createResampler(sampleRate, rate);
      for (let next = await (first ?? iterator.next()); next.done !== true; next = await iterator.next()) {
        heardCount += next.value.length;
        const resampled = resampler.push(next.value);
        if (resampled.length > 0) yield resampled as Float32Array<ArrayBuffer>;
        if (yielder.isDue(longStep)) await yielder.yield();
      }
      const last = resampler.end();
      if (last.length > 0) yield last as Float32Array<ArrayBuffer>;
    } finally {
      await iterator.return?.();
    }
  }

  return {
    sampleRate,
    channels,
    encoding,
    bytesPerSecond,
    open,
    get heardSeconds() {
      return heardCount / sampleRate;
    },
    async hasSound() {
      first ??= iterator.next();
      return (await first).done !== true;
    },
    async close() {
      await iterator.return?.();
    },
  };
}

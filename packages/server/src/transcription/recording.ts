/** An upload as a recording: decoded as it comes, as often as engines ask for it. */
import type { AudioInput } from "../audio/audio-input.ts";
import { readAudio } from "../audio/read-audio.ts";
import { createResampler } from "../audio/resampler.ts";
import type { FormFile } from "../http/form.ts";
import type { RecordedAudio } from "../models/model.ts";

type Samples = Float32Array<ArrayBuffer>;

export interface Recording extends RecordedAudio {
  /** For logs, such as `16-bit PCM`. */
  readonly encoding: string;
  /** Whether there is any sound at all; waits for the first of it. */
  hasSound(): Promise<boolean>;
  /** How much of it was read, in seconds. */
  readonly heardSeconds: number;
  /** How long it is, in seconds; reads what no engine has read. */
  duration(): Promise<number>;
  /** Forgets what was read ahead. */
  close(): Promise<void>;
}

/**
 * Reads up to the first sound.
 * @throws AppError invalid_request for a damaged file, unsupported_media_type for a kind that is not read; as the form does
 */
export async function openRecording(file: FormFile, limits: { readonly maxSeconds: number }): Promise<Recording> {
  const { mediaType, fileName } = file;
  const read = (): Promise<AudioInput> => readAudio(file.read(), { mediaType, fileName, limits });
  const first = await read();
  const { sampleRate, encoding } = first;
  /** What was read to see whether there is sound, for the first who opens it. */
  let begun: Iteration | undefined = { samples: first.samples[Symbol.asyncIterator](), first: undefined };
  let heardCount = 0;
  let wholeCount: number | undefined;

  async function* measured(): AsyncGenerator<Samples, void, undefined> {
    const iteration = begun ?? { samples: (await read()).samples[Symbol.asyncIterator](), first: undefined };
    begun = undefined;
    let count = 0;
    try {
      for (let next = await (iteration.first ?? iteration.samples.next()); ; next = await iteration.samples.next()) {
        if (next.done === true) break;
        count += next.value.length;
        heardCount = Math.max(heardCount, count);
        yield next.value as Samples;
      }
      wholeCount = count;
    } finally {
      await iteration.samples.return?.();
    }
  }

  return {
    sampleRate,
    encoding,
    async *open(rate = sampleRate) {
      const resampler = await createResampler(sampleRate, rate);
      for await (const samples of measured()) {
        const resampled = resampler.push(samples);
        if (resampled.length > 0) yield resampled as Samples;
      }
      const last = resampler.end();
      if (last.length > 0) yield last as Samples;
    },
    async hasSound() {
      if (begun === undefined) return true;
      begun.first ??= begun.samples.next();
      return (await begun.first).done !== true;
    },
    async duration() {
      if (wholeCount === undefined) for await (const samples of measured()) samples satisfies Samples;
      return (wholeCount ?? 0) / sampleRate;
    },
    get heardSeconds() {
      return heardCount / sampleRate;
    },
    async close() {
      await begun?.samples.return?.();
      begun = undefined;
    },
  };
}

interface Iteration {
  readonly samples: AsyncIterator<Float32Array>;
  first: Promise<IteratorResult<Float32Array>> | undefined;
}

/**
 * Streams a recording as a 16-bit mono WAV file of known length, so that it is never whole in memory. Many servers refuse
 * bodies of unknown length, so the recording is read twice, first to measure it.
 * docs/adr/0017-transcription.md
 */
import { toInt16Bytes } from "../../audio/samples.ts";
import { wavHeader } from "../../audio/wav-encoder.ts";
import type { RecordedAudio } from "../engine.ts";
import { abortReason } from "../../abort.ts";

export interface RecordedWav {
  readonly durationMs: number;
  readonly byteLength: number;
  open(): AsyncIterable<Uint8Array>;
}

/** The sample rate of recognizers; a higher one would only add bytes. */
const highestRate = 16_000;

/** Waits for the end of the recording. @throws AppError the signal's reason, or the recording's failure */
export async function measureWav(audio: RecordedAudio, signal: AbortSignal): Promise<RecordedWav> {
  let heardCount = 0;
  for await (const samples of audio.open()) {
    if (signal.aborted) throw abortReason(signal);
    heardCount += samples.length;
  }
  const sampleRate = Math.min(audio.sampleRate, highestRate);
  const sampleCount = Math.round((heardCount * sampleRate) / audio.sampleRate);
  const header = wavHeader(sampleRate, 2 * sampleCount);
  return {
    durationMs: (heardCount * 1_000) / audio.sampleRate,
    byteLength: header.length + 2 * sampleCount,
    async *open() {
      yield header;
      let left = sampleCount;
      for await (const samples of audio.open(sampleRate)) {
        if (signal.aborted) throw abortReason(signal);
        const taken = samples.length > left ? samples.subarray(0, left) : samples;
        left -= taken.length;
        if (taken.length > 0) yield toInt16Bytes(taken);
      }
      // A resampler may round otherwise by a sample.
      if (left > 0) yield new Uint8Array(2 * left);
    },
  };
}

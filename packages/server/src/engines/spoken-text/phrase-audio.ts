/**
 * Turns what an engine produced for a phrase into its part of the speech: without the silence at its ends, which differs
 * between engines, at the loudness of all voices, and followed by the pause after the phrase.
 */
import { applyGain } from "../../audio/voice-level.ts";
import type { PcmAudio } from "./speech-pauses.ts";

export interface PhraseAudio extends PcmAudio {
  readonly samples: Float32Array<ArrayBuffer>;
  /** Seconds that were removed at the start. */
  readonly removed: number;
}

export interface PhraseAudioOptions {
  /** Seconds of silence after the phrase. */
  readonly pause: number;
  readonly gain: number;
  /** When the first word starts and the last one ends, in seconds, if the engine reports it. */
  readonly spoken?: { readonly start: number; readonly end: number } | undefined;
}

const frameSeconds = 0.005;
/**
 * Silence is below this part of the highest sample. Where an engine reports its words, they protect quiet consonants, and
 * the noise that it puts around them counts as silence.
 */
const silence = { alone: 0.004, aroundWords: 0.02 };
/** What is kept around the first and last frame that is heard, in seconds: consonants begin and end quietly. */
const margin = 0.025;

export async function toPhraseAudio(
  { samples, sampleRate }: PcmAudio,
  { pause, gain, spoken }: PhraseAudioOptions,
): Promise<PhraseAudio> {
  const heard = heardPart(samples, sampleRate, spoken === undefined ? silence.alone : silence.aroundWords);
  if (heard === undefined) return { samples: new Float32Array(Math.round(pause * sampleRate)), sampleRate, removed: 0 };
  const from = Math.max(0, Math.min(heard.from, Math.round((spoken?.start ?? Infinity) * sampleRate)));
  const to = Math.min(samples.length, Math.max(heard.to, Math.round((spoken?.end ?? 0) * sampleRate)));
  const part = new Float32Array(to - from + Math.round(pause * sampleRate));
  part.set(samples.subarray(from, to));
  await applyGain(part.subarray(0, to - from), sampleRate, gain);
  return { samples: part, sampleRate, removed: from / sampleRate };
}

/** The samples from the first frame that is heard to the last one, with a margin; undefined for silence. */
function heardPart(
  samples: Float32Array,
  sampleRate: number,
  threshold: number,
): { from: number; to: number } | undefined {
  let peak = 0;
  for (const sample of samples) peak = Math.max(peak, Math.abs(sample));
  if (peak === 0) return undefined;
  const limit = peak * threshold;
  const size = Math.max(1, Math.round(sampleRate * frameSeconds));
  const isHeard = (start: number): boolean => {
    let energy = 0;
    for (let index = start; index < Math.min(start + size, samples.length); index++) energy += samples[index]! ** 2;
    return Math.sqrt(energy / size) > limit;
  };
  let from = 0;
  while (from < samples.length && !isHeard(from)) from += size;
  let to = samples.length;
  while (to > from && !isHeard(Math.max(0, to - size))) to -= size;
  const around = Math.round(margin * sampleRate);
  return { from: Math.max(0, from - around), to: Math.min(samples.length, to + around) };
}

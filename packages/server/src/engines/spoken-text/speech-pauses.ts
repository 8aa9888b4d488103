/** Finds the pauses in speech, and the time of speech without them. */

export interface PcmAudio {
  /** Mono, −1 to 1. */
  readonly samples: Float32Array;
  readonly sampleRate: number;
}

export interface SpeechPauses {
  /** Seconds from the start of the audio to the first speech. */
  readonly start: number;
  /** Seconds of speech without pauses. */
  readonly spoken: number;
  /** `at` is the spoken time before the pause. */
  readonly pauses: readonly { readonly at: number; readonly length: number }[];
}

const frame = 0.01;
/** Of the loudest frame; below it a frame is silent. */
const silence = 0.03;
/** Shorter silences, in seconds, are inside sounds such as p, t and k. */
const shortestPause = 0.12;

export function speechPauses({ samples, sampleRate }: PcmAudio): SpeechPauses {
  const size = Math.max(1, Math.round(sampleRate * frame));
  const levels = Array.from({ length: Math.ceil(samples.length / size) }, (_, index) =>
    levelOf(samples.subarray(index * size, (index + 1) * size)),
  );
  const limit = silence * levels.reduce((most, level) => Math.max(most, level), 0);
  const isHeard = (level: number): boolean => level > limit;
  const first = Math.max(0, levels.findIndex(isHeard));
  const last = levels.findLastIndex(isHeard) + 1;
  const seconds = size / sampleRate;
  const pauses: { at: number; length: number }[] = [];
  let spoken = 0;
  for (let index = first; index < last;) {
    const next = levels.findIndex((level, other) => other > index && isHeard(level) !== isHeard(levels[index]!));
    const until = next === -1 ? last : Math.min(next, last);
    const length = (until - index) * seconds;
    if (isHeard(levels[index]!) || length < shortestPause) spoken += length;
    else pauses.push({ at: spoken, length });
    index = until;
  }
  return { start: first * seconds, spoken, pauses };
}

function levelOf(samples: Float32Array): number {
  let energy = 0;
  for (const sample of samples) energy += sample * sample;
  return Math.sqrt(energy / Math.max(1, samples.length));
}

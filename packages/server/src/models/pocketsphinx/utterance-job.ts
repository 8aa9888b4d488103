/** One utterance that is to be decoded, and for whom. */
import type { Understanding } from "./recogniser-process.ts";
import type { UtteranceAudio } from "./utterance-audio.ts";

/** What one caller has had so far, and what was learned of its recording. */
export interface Share {
  usedSamples: number;
  /** The mean of the cepstra of its last utterance. */
  mean: Float64Array | undefined;
}

export interface UtteranceJob {
  readonly share: Share;
  readonly audio: UtteranceAudio;
  /** Whether decoding may begin, and tell what it understood, before the utterance is whole. */
  readonly partials: boolean;
  readonly signal: AbortSignal;
  /** The last call is of the type "result". */
  onUnderstood(understanding: Understanding): void;
  onFailure(error: unknown): void;
}

/** Defines the job to decode one utterance. */
import type { CallUsage } from "./decoding-usage.ts";
import type { RecognizedWord } from "./protocol.ts";
import type { UtteranceAudio } from "./utterance-audio.ts";

export interface UtteranceJob {
  readonly usage: CallUsage;
  /** Complete. */
  readonly audio: UtteranceAudio;
  readonly signal: AbortSignal;
  onRecognized(words: readonly RecognizedWord[]): void;
  onFailure(error: unknown): void;
}

/** Defines the job to decode one utterance. */
import type { RecognitionMessage } from "./recognizer-process.ts";
import type { CallUsage } from "./decoding-usage.ts";
import type { UtteranceAudio } from "./utterance-audio.ts";

export interface UtteranceJob {
  readonly share: CallUsage;
  readonly audio: UtteranceAudio;
  /** Whether decoding may begin, and tell what it understood, before the utterance is whole. */
  readonly partials: boolean;
  readonly signal: AbortSignal;
  /** The last call is of the type "result". */
  onUnderstood(understanding: RecognitionMessage): void;
  onFailure(error: unknown): void;
}

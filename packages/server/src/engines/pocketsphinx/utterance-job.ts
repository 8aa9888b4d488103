/** Defines the job to decode one utterance. */
import type { RecognitionMessage } from "./recognizer-process.ts";
import type { CallUsage } from "./decoding-usage.ts";
import type { UtteranceAudio } from "./utterance-audio.ts";

export interface UtteranceJob {
  readonly usage: CallUsage;
  readonly audio: UtteranceAudio;
  /** Whether decoding may start, and send partial results, before the utterance is complete. */
  readonly partials: boolean;
  readonly signal: AbortSignal;
  /** The last call is of the type "result". */
  onRecognized(message: RecognitionMessage): void;
  onFailure(error: unknown): void;
}

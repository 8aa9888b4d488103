/**
 * Defines the messages between the server and a recognizer's process, over Node's IPC channel with advanced serialization.
 * A process decodes one utterance at a time.
 */
import type { Installation } from "./installation.ts";

/** The model's sample rate in hertz. */
export const modelRate = 16_000;

export type ToRecognizer =
  | { readonly type: "load"; readonly installation: Installation }
  | { readonly type: "begin" }
  | { readonly type: "samples"; readonly samples: Int16Array }
  | { readonly type: "end" };

export type FromRecognizer =
  | { readonly type: "ready" }
  | { readonly type: "unusable"; readonly reason: string }
  /** The words of the whole utterance. */
  | { readonly type: "result"; readonly words: readonly RecognizedWord[] };

/** A word; times are from the start of the utterance. */
export interface RecognizedWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Posterior probability. */
  readonly confidence: number;
}

/**
 * Defines the messages between the server and a recognizer's process, over Node's IPC channel with advanced serialization.
 * A process decodes one utterance at a time.
 */
import type { Installation } from "./installation.ts";

/** The model's sample rate in hertz. */
export const modelRate = 16_000;

export type ToRecognizer =
  | { readonly type: "load"; readonly installation: Installation }
  /** An utterance begins. With `partials` decoding starts before its end, and an earlier mean of its recording helps. */
  | { readonly type: "begin"; readonly partials: boolean; readonly mean: Float64Array | undefined }
  | { readonly type: "samples"; readonly samples: Int16Array }
  | { readonly type: "end" };

export type FromRecognizer =
  | { readonly type: "ready" }
  | { readonly type: "unusable"; readonly reason: string }
  /** The partial result: the words so far. */
  | { readonly type: "partial"; readonly heardMs: number; readonly words: readonly RecognizedWord[] }
  /** The words of the whole utterance, and the mean of its cepstra. */
  | { readonly type: "result"; readonly words: readonly RecognizedWord[]; readonly mean: Float64Array };

/** A word; times are from the start of the utterance. */
export interface RecognizedWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Posterior probability; undefined in partial results. */
  readonly confidence: number | undefined;
}

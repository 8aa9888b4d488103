/**
 * Synthesizes a call phrase by phrase: the next phrase is synthesized while this one is sent.
 * docs/adr/0013-speech.md
 */
import { AppError } from "../../errors.ts";
import type { SpeechCall, SpeechPiece } from "../engine.ts";
import type { Phrase } from "./phrases.ts";

export interface PhraseSynthesizer {
  /** The engine's sample rate in hertz, for the silence if there is nothing to speak. */
  readonly sampleRate: number;
  speakPhrase(phrase: Phrase, turn: PhraseTurn): Promise<SpeechPiece>;
}

export interface PhraseTurn {
  readonly first: boolean;
  /** When a listener has heard all phrases before it, by the monotonic clock. */
  readonly dueMs: number;
  /** Aborts when the speech is no longer needed. */
  readonly signal: AbortSignal;
}

/** Seconds of silence if there is nothing to speak. */
const silence = 0.1;

/**
 * The pieces of a call, one per phrase, or a short silence if there is none.
 * @throws AppError unsupported_parameter for instructions; what `speakPhrase` throws
 */
export async function* synthesizePhrases(
  call: Pick<SpeechCall, "instructions" | "signal">,
  phrases: Iterator<Phrase, void>,
  { sampleRate, speakPhrase }: PhraseSynthesizer,
): AsyncGenerator<SpeechPiece, void, undefined> {
  if (call.instructions !== undefined) {
    throw new AppError("unsupported_parameter", "The model does not support instructions; omit them.", {
      param: "instructions",
    });
  }
  const left = new AbortController();
  const signal = AbortSignal.any([call.signal, left.signal]);
  let first = true;
  let heardMs = performance.now();
  const begin = (): Promise<SpeechPiece> | undefined => {
    const { value: phrase } = phrases.next();
    if (phrase === undefined) return undefined;
    const spoken = speakPhrase(phrase, { first, dueMs: heardMs, signal });
    // Its failure is reported when its result is due.
    spoken.catch(() => {});
    first = false;
    return spoken;
  };
  try {
    let current = begin();
    if (current === undefined) {
      yield { sampleRate, samples: new Float32Array(sampleRate * silence), marks: [], sentence: undefined };
    }
    while (current !== undefined) {
      const piece = await current;
      heardMs = Math.max(heardMs, performance.now()) + (1000 * piece.samples.length) / piece.sampleRate;
      current = begin();
      yield piece;
    }
  } finally {
    left.abort(new AppError("client_closed", "The synthesis was cancelled."));
  }
}

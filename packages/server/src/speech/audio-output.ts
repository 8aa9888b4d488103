/** Streams an engine's samples as the requested audio: resampled, encoded, with boundaries. */
import type { WordBoundary } from "../api/speech.ts";
import { createEncoder } from "../audio/create-encoder.ts";
import { createResampler } from "../audio/resampler.ts";
import { AppError } from "../errors.ts";
import type { SpeechPiece } from "../engines/engine.ts";
import { boundariesOf, groupPieces } from "./boundaries.ts";
import type { PreparedSpeech } from "./prepare.ts";

export type OutputItem =
  | { readonly kind: "audio"; readonly bytes: Uint8Array }
  | { readonly kind: "boundary"; readonly boundary: WordBoundary };

export interface AudioOutput {
  readonly contentType: string;
  /** Hertz. */
  readonly sampleRate: number;
  /** Boundaries precede the audio that they describe. Leaving the loop stops the engine. */
  readonly items: AsyncGenerator<OutputItem, void, undefined>;
}

/** Notified as audio passes. */
export interface AudioObserver {
  /** The engine has produced `seconds` of speech. */
  onSpeech(seconds: number): void;
}

/** Maximum duration of an answer, in hours. */
const longestHours = 4;

/**
 * Reads the first piece before it returns, so that a call that fails at once is still an HTTP error.
 * @throws AppError whatever the engine throws before its first piece; invalid_request if the format does not support the rate
 */
export async function openAudioOutput(
  pieces: AsyncIterable<SpeechPiece>,
  speech: PreparedSpeech,
  observer: AudioObserver,
): Promise<AudioOutput> {
  const iterator = pieces[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done === true) throw new AppError("upstream_failed", "The engine produced no audio.");
  try {
    const fromRate = first.value.sampleRate;
    const sampleRate = speech.sampleRate ?? fromRate;
    const stream = speech.delivery !== "whole";
    const encoder = await createEncoder({ format: speech.format, sampleRate, stream });
    const resampler = await createResampler(fromRate, sampleRate);
    const { boundaries: wanted, input } = speech;

    const items = async function* (): AsyncGenerator<OutputItem, void, undefined> {
      let seconds = 0;
      for await (const group of groupPieces(resumed(first.value, iterator), wanted?.has("sentence") === true)) {
        if (wanted !== undefined) {
          const startMs = (seconds + encoder.delaySeconds) * 1_000;
          for (const boundary of boundariesOf(group, { input, wanted, startMs })) yield { kind: "boundary", boundary };
        }
        for (const { samples } of group) {
          seconds += samples.length / fromRate;
          observer.onSpeech(samples.length / fromRate);
          if (seconds > longestHours * 3_600) throw tooLong();
          yield { kind: "audio", bytes: encoder.push(resampler.push(samples)) };
        }
      }
      yield { kind: "audio", bytes: encoder.push(resampler.end()) };
      yield { kind: "audio", bytes: encoder.end() };
    };
    return { contentType: encoder.contentType, sampleRate, items: items() };
  } catch (error) {
    await iterator.return?.();
    throw error;
  }
}

function tooLong(): AppError {
  return new AppError(
    "invalid_request",
    `The speech is longer than ${longestHours} hours, which is the limit. Send the text in parts.`,
    {
      param: "input",
    },
  );
}

/** The whole iteration, after its first item was already taken. */
async function* resumed<T>(first: T, rest: AsyncIterator<T>): AsyncGenerator<T, void, undefined> {
  let over = false;
  try {
    yield first;
    for (;;) {
      const next = await rest.next();
      over = next.done === true;
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    if (!over) await rest.return?.();
  }
}

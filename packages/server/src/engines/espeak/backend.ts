/** Defines the interface of the two ways to run espeak-ng. */
import type { Voice } from "../engine.ts";
import type { EspeakWord } from "./protocol.ts";

export interface EspeakCall {
  /** Without markup that espeak-ng interprets. */
  readonly text: string;
  readonly voice: string;
  readonly wordsPerMinute: number;
  /** Whether it is the first phrase of its call. */
  readonly first: boolean;
  /** Whose call it is; see `fairnessKey` of a call. */
  readonly group?: string | undefined;
  readonly signal: AbortSignal;
}

export interface EspeakSpeech {
  /** Hertz. */
  readonly sampleRate: number;
  /** Mono, −1 to 1. */
  readonly samples: Float32Array<ArrayBuffer>;
  /** In order of time; undefined if the backend returns none. */
  readonly words: readonly EspeakWord[] | undefined;
}

/** Failures are those of a `SpeechModel`. */
export interface EspeakBackend {
  voices(signal: AbortSignal): Promise<readonly Voice[]>;
  speak(call: EspeakCall): Promise<EspeakSpeech>;
  close(): Promise<void>;
}

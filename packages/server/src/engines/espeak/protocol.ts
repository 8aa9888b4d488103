/**
 * Defines the messages between the server and a process of the espeak-ng package: lines of JSON over pipes. A response to
 * a phrase is followed by its samples.
 */
import type { PackageVoice } from "./voices.ts";

/** Half of espeak-ng's own amplitude, at which several voices clip. */
export const amplitude = 50;

/** One phrase to speak. A process gets the next one when it has answered. */
export interface EspeakPhrase {
  readonly text: string;
  /** As espeak-ng names it, with its variant: `roa/fr+f3`. */
  readonly voice: string;
  readonly wordsPerMinute: number;
}

/** A word as espeak-ng found it. */
export interface EspeakWord {
  /** Where it begins, in code points from 0. */
  readonly position: number;
  readonly startMs: number;
  readonly endMs: number;
}

/** The first line that a process writes. */
export interface EspeakReady {
  readonly type: "ready";
  readonly voices: readonly PackageVoice[];
}

/** `bytes` of samples follow the line, 16 bits little-endian. */
export interface EspeakSpoken {
  readonly type: "spoken";
  readonly sampleRate: number;
  readonly bytes: number;
  readonly words: readonly EspeakWord[];
}

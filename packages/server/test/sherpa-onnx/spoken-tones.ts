/**
 * Recordings for tiny recognizers: a voice-like sound that a voice detector accepts as speech, with words of an invented
 * language in which every token is a short high tone.
 */
import { joinSamples } from "../../src/audio/samples.ts";
import { voice } from "../audio/signals.ts";

export const recordingRate = 16_000;

/** Tokens by number; the first is the blank. `s` continues the word before it. */
export const tokens = ["<blk>", "▁one", "▁two", "▁three", "s"] as const;
export type Token = Exclude<(typeof tokens)[number], "<blk>">;

/** The frequency of each token's tone, in hertz. */
export const toneOf: Readonly<Record<Token, number>> = { "▁one": 4_400, "▁two": 5_200, "▁three": 6_100, s: 7_000 };
const toneSeconds = 0.12;
const toneLevel = 0.2;

export interface ToneAt {
  readonly token: Token;
  /** Seconds from the beginning of the speech. */
  readonly at: number;
}

/** Speech of this length that contains tones. */
export function speech(seconds: number, tones: readonly ToneAt[]): Float32Array<ArrayBuffer> {
  const samples = Float32Array.from(voice(recordingRate, seconds));
  for (const { token, at } of tones) {
    const first = Math.round(at * recordingRate);
    for (let index = 0; index < toneSeconds * recordingRate && first + index < samples.length; index++) {
      const angle = (2 * Math.PI * toneOf[token] * index) / recordingRate;
      samples[first + index]! += toneLevel * Math.sin(angle);
    }
  }
  return samples;
}

/** Tokens half a second apart, in as much speech as they need. */
export function sentence(...said: readonly Token[]): Float32Array<ArrayBuffer> {
  return speech(
    0.6 + said.length * 0.5,
    said.map((token, index) => ({ token, at: 0.4 + index * 0.5 })),
  );
}

export function silence(seconds: number): Float32Array<ArrayBuffer> {
  return new Float32Array(Math.round(seconds * recordingRate));
}

export function recording(...parts: readonly Float32Array[]): Float32Array<ArrayBuffer> {
  return joinSamples(parts);
}

/** What the player's controls need from audio, whether it is a file or arrives while it is played. */
import type { ReadonlySignal } from "@preact/signals";
import type { WaveformPeaks } from "./waveform-peaks.ts";

export interface Player {
  /** Seconds. */
  readonly position: ReadonlySignal<number>;
  /** Seconds; grows while audio arrives. */
  readonly duration: ReadonlySignal<number>;
  readonly playing: ReadonlySignal<boolean>;
  /** Why it cannot be played. */
  readonly problem: ReadonlySignal<string | undefined>;
  /** A new object whenever there is more to draw; undefined if there is no waveform. */
  readonly waveform: ReadonlySignal<{ readonly peaks: WaveformPeaks } | undefined>;
  play(): void;
  pause(): void;
  /** Continues there if it is playing. */
  seek(seconds: number): void;
  /** Stops, and frees the audio. */
  close(): void;
}

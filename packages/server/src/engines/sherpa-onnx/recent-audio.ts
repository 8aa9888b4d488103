/** Keeps the most recent audio, so that a segment that has just ended can be read again. */
import { SampleHistory } from "../../audio/sample-history.ts";

export class RecentAudio {
  readonly #sampleRate: number;
  readonly #most: number;
  readonly #history = new SampleHistory();

  /** @param seconds that are kept */
  constructor(sampleRate: number, seconds: number) {
    this.#sampleRate = sampleRate;
    this.#most = seconds * sampleRate;
  }

  push(samples: Float32Array): void {
    this.#history.push(samples);
    this.#history.forgetBefore(this.#history.end - this.#most);
  }

  /** As far as it is still known. */
  between(startMs: number, endMs: number): Float32Array<ArrayBuffer> {
    const at = (ms: number): number => Math.round((ms * this.#sampleRate) / 1000);
    return this.#history.slice(at(startMs), at(endMs));
  }
}

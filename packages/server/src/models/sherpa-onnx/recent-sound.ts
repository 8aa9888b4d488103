/** The last of what was heard, so that somebody can listen again to a segment that has just ended. */
import { joinSamples } from "../../audio/samples.ts";

export class RecentSound {
  readonly #sampleRate: number;
  readonly #most: number;
  #pieces: Float32Array[] = [];
  #first = 0;
  #end = 0;

  /** @param seconds that are kept */
  constructor(sampleRate: number, seconds: number) {
    this.#sampleRate = sampleRate;
    this.#most = seconds * sampleRate;
  }

  push(samples: Float32Array): void {
    this.#pieces.push(samples);
    this.#end += samples.length;
    while (this.#end - this.#first - (this.#pieces[0]?.length ?? 0) > this.#most) {
      this.#first += this.#pieces.shift()!.length;
    }
  }

  /** As far as it is still known. */
  between(startMs: number, endMs: number): Float32Array<ArrayBuffer> {
    const at = (ms: number): number => Math.max(0, Math.round((ms * this.#sampleRate) / 1000) - this.#first);
    return joinSamples(this.#pieces).slice(at(startMs), at(endMs));
  }
}

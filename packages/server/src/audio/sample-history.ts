/** Keeps the most recent samples of a recording, addressed by their position in it. */
import { joinSamples } from "./samples.ts";

export class SampleHistory {
  #pieces: Float32Array[] = [];
  #first = 0;
  #end = 0;

  /** The first sample that is still there. */
  get first(): number {
    return this.#first;
  }

  /** The sample after the last. */
  get end(): number {
    return this.#end;
  }

  push(samples: Float32Array): void {
    this.#pieces.push(samples);
    this.#end += samples.length;
  }

  /** Drops the pieces that are entirely before this sample. */
  forgetBefore(sample: number): void {
    while (this.#pieces[0] !== undefined && this.#first + this.#pieces[0].length <= sample) {
      this.#first += this.#pieces[0].length;
      this.#pieces.shift();
    }
  }

  /** The part of the range that is still buffered. */
  slice(from: number, to: number): Float32Array<ArrayBuffer> {
    const joined = joinSamples(this.#pieces);
    this.#pieces = [joined];
    return joined.slice(Math.max(0, from - this.#first), Math.max(0, to - this.#first));
  }
}

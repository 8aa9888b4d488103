/** The loudest sample of every hundredth of a second, collected as samples arrive, and summed up for a drawing. */

const peaksPerSecond = 100;

export class WaveformPeaks {
  #peaks = new Uint16Array(1024);
  #length = 0;
  /** Samples of the peak that is not complete yet. */
  #pending = 0;
  readonly #samplesPerPeak: number;

  constructor(sampleRate: number) {
    this.#samplesPerPeak = sampleRate / peaksPerSecond;
  }

  append(samples: Int16Array): void {
    let at = 0;
    while (at < samples.length) {
      if (this.#pending <= 0) {
        this.#grow();
        this.#pending += this.#samplesPerPeak;
      }
      const end = Math.min(samples.length, at + Math.ceil(this.#pending));
      let peak = this.#peaks[this.#length - 1]!;
      this.#pending -= end - at;
      for (; at < end; at += 1) peak = Math.max(peak, Math.abs(samples[at]!));
      this.#peaks[this.#length - 1] = peak;
    }
  }

  /**
   * The loudest sample in each of `count` equal parts of `durationSeconds`, 0 to 1; silence where there is no audio yet.
   */
  columns(count: number, durationSeconds: number): Float32Array {
    const columns = new Float32Array(count);
    const perColumn = (durationSeconds * peaksPerSecond) / count;
    for (let column = 0; column < count; column += 1) {
      const start = Math.floor(column * perColumn);
      const end = Math.min(this.#length, Math.max(start + 1, Math.floor((column + 1) * perColumn)));
      let peak = 0;
      for (let index = start; index < end; index += 1) peak = Math.max(peak, this.#peaks[index]!);
      columns[column] = peak / 32_768;
    }
    return columns;
  }

  #grow(): void {
    if (this.#length === this.#peaks.length) {
      const longer = new Uint16Array(this.#length * 2);
      longer.set(this.#peaks);
      this.#peaks = longer;
    }
    this.#length += 1;
  }
}

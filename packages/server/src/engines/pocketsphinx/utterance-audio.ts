/** Buffers the audio of one utterance while it grows. */
export class UtteranceAudio {
  /** Its first sample, counted in the recording. */
  readonly firstSample: number;
  readonly #pieces: Int16Array[] = [];
  #length = 0;

  constructor(firstSample: number) {
    this.firstSample = firstSample;
  }

  get length(): number {
    return this.#length;
  }

  get pieces(): readonly Int16Array[] {
    return this.#pieces;
  }

  push(samples: Int16Array): void {
    if (samples.length === 0) return;
    this.#pieces.push(samples);
    this.#length += samples.length;
  }
}

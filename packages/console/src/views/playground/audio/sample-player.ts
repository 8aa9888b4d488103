/**
 * Plays samples while they arrive, and any part of them again. Each piece that has arrived is scheduled to begin at the sample at
 * which the previous one ends; the audio device's clock says which sample is heard now.
 */
import { signal } from "@preact/signals";
import type { Player } from "./player.ts";
import { WaveformPeaks } from "./waveform-peaks.ts";

/** The time from `start()` until the first sample, so that it is not cut off. */
const leadSeconds = 0.02;
/** How much is handed to the audio device at once; a long recording would otherwise be copied as a whole. */
const mostScheduledSeconds = 30;

export class SamplePlayer implements Player {
  readonly position = signal(0);
  readonly duration = signal(0);
  readonly playing = signal(false);
  readonly problem = signal<string | undefined>(undefined);
  readonly waveform;
  readonly sampleRate: number;
  readonly #context: AudioContext;
  readonly #peaks: WaveformPeaks;
  readonly #sources = new Set<AudioBufferSourceNode>();
  #samples = new Int16Array(1 << 16);
  #length = 0;
  #complete = false;
  /** The sample `sample` is heard when the clock shows `time`. */
  #anchor = { time: 0, sample: 0 };
  #scheduledTo = 0;
  #frame = 0;

  constructor(sampleRate: number) {
    this.sampleRate = sampleRate;
    // At the audio's own rate the pieces need no resampling, which would click where they meet.
    this.#context = new AudioContext({ sampleRate, latencyHint: "interactive" });
    this.#peaks = new WaveformPeaks(sampleRate);
    this.waveform = signal({ peaks: this.#peaks });
  }

  /** All samples so far. */
  get samples(): Int16Array<ArrayBuffer> {
    return this.#samples.subarray(0, this.#length);
  }

  append(samples: Int16Array): void {
    while (this.#samples.length < this.#length + samples.length) {
      const longer = new Int16Array(this.#samples.length * 2);
      longer.set(this.samples);
      this.#samples = longer;
    }
    this.#samples.set(samples, this.#length);
    this.#length += samples.length;
    this.#peaks.append(samples);
    this.waveform.value = { peaks: this.#peaks };
    this.duration.value = this.#length / this.sampleRate;
    this.#schedule();
  }

  /** No more samples arrive. */
  complete(): void {
    this.#complete = true;
  }

  play(): void {
    if (this.playing.value) return;
    if (this.#complete && this.position.value >= this.duration.value) this.position.value = 0;
    // Browsers let a page make sounds once someone has used it.
    void this.#context.resume();
    this.playing.value = true;
    this.#startAt(this.position.value);
    this.#follow();
  }

  pause(): void {
    if (!this.playing.value) return;
    this.position.value = this.#heard();
    this.playing.value = false;
    this.#silence();
  }

  seek(seconds: number): void {
    this.position.value = Math.max(0, Math.min(seconds, this.duration.value));
    if (this.playing.value) this.#startAt(this.position.value);
  }

  close(): void {
    this.playing.value = false;
    this.#silence();
    void this.#context.close();
  }

  #startAt(seconds: number): void {
    this.#silence();
    this.#scheduledTo = Math.round(seconds * this.sampleRate);
    this.#anchor = { time: this.#context.currentTime + leadSeconds, sample: this.#scheduledTo };
    this.#schedule();
  }

  /** Hands what has arrived to the audio device. */
  #schedule(): void {
    if (!this.playing.value || this.#scheduledTo >= this.#length) return;
    const { currentTime } = this.#context;
    let start = this.#anchor.time + (this.#scheduledTo - this.#anchor.sample) / this.sampleRate;
    if (start < currentTime) {
      // Everything before this has been heard already.
      start = currentTime + leadSeconds;
      this.#anchor = { time: start, sample: this.#scheduledTo };
    }
    const end = Math.min(this.#length, this.#scheduledTo + mostScheduledSeconds * this.sampleRate);
    const buffer = this.#context.createBuffer(1, end - this.#scheduledTo, this.sampleRate);
    const channel = buffer.getChannelData(0);
    for (let index = 0; index < channel.length; index += 1)
      channel[index] = this.#samples[this.#scheduledTo + index]! / 32_768;
    const source = this.#context.createBufferSource();
    source.buffer = buffer;
    source.connect(this.#context.destination);
    source.addEventListener("ended", () => {
      if (this.#sources.delete(source)) this.#ended();
    });
    this.#sources.add(source);
    source.start(start);
    this.#scheduledTo = end;
  }

  #ended(): void {
    if (this.#scheduledTo < this.#length) return this.#schedule();
    if (!this.#complete || this.#sources.size > 0) return;
    this.playing.value = false;
    this.position.value = this.duration.value;
  }

  #silence(): void {
    cancelAnimationFrame(this.#frame);
    const sources = [...this.#sources];
    this.#sources.clear();
    for (const source of sources) source.stop();
    if (this.playing.value) this.#follow();
  }

  #follow(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => {
      if (!this.playing.value) return;
      this.position.value = this.#heard();
      this.#follow();
    });
  }

  /** Seconds; samples reach the ear after the latency of the device, which Safari does not report. */
  #heard(): number {
    const { currentTime, outputLatency } = this.#context;
    const sample = this.#anchor.sample + (currentTime - (outputLatency || 0) - this.#anchor.time) * this.sampleRate;
    return Math.max(this.#anchor.sample, Math.min(sample, this.#scheduledTo)) / this.sampleRate;
  }
}

/** Plays a file with the browser's own decoder, and draws its waveform if it is short enough to be decoded at once. */
import { signal } from "@preact/signals";
import { mixToInt16 } from "./wav-file.ts";
import type { Player } from "./player.ts";
import { WaveformPeaks } from "./waveform-peaks.ts";

/** A longer file would need hundreds of megabytes. */
const longestWaveformSeconds = 1_800;
const waveformRate = 8_000;

export class FilePlayer implements Player {
  readonly position = signal(0);
  readonly duration = signal(0);
  readonly playing = signal(false);
  readonly problem = signal<string | undefined>(undefined);
  readonly waveform = signal<{ readonly peaks: WaveformPeaks } | undefined>(undefined);
  readonly #file: Blob;
  readonly #element = new Audio();
  #frame = 0;
  #closed = false;

  constructor(file: Blob) {
    this.#file = file;
    const element = this.#element;
    element.preload = "metadata";
    element.addEventListener("loadedmetadata", () => {
      // Recordings of browsers do not contain their length: it is known after a jump to the end.
      if (element.duration === Infinity) element.currentTime = Number.MAX_SAFE_INTEGER;
    });
    element.addEventListener("durationchange", () => {
      if (!Number.isFinite(element.duration)) return;
      if (this.duration.value === 0 && element.currentTime > 0) element.currentTime = 0;
      this.duration.value = element.duration;
      if (this.waveform.value === undefined && element.duration <= longestWaveformSeconds) void this.#draw();
    });
    element.addEventListener("play", () => {
      this.playing.value = true;
      this.#follow();
    });
    element.addEventListener("pause", () => {
      this.playing.value = false;
      this.position.value = element.currentTime;
    });
    element.addEventListener("seeked", () => (this.position.value = element.currentTime));
    element.addEventListener("error", () => {
      if (!this.#closed)
        this.problem.value =
          "This browser cannot play the file. It can still be transcribed, if the server can read it.";
    });
    element.src = URL.createObjectURL(file);
  }

  play(): void {
    this.#element.play().catch(() => {
      // The element's events report it.
    });
  }

  pause(): void {
    this.#element.pause();
  }

  seek(seconds: number): void {
    this.#element.currentTime = Math.max(0, Math.min(seconds, this.duration.value));
    this.position.value = this.#element.currentTime;
  }

  close(): void {
    this.#closed = true;
    cancelAnimationFrame(this.#frame);
    this.#element.pause();
    URL.revokeObjectURL(this.#element.src);
    this.#element.removeAttribute("src");
    this.#element.load();
  }

  async #draw(): Promise<void> {
    try {
      const decoded = await decodeAudio(this.#file, waveformRate);
      const peaks = new WaveformPeaks(waveformRate);
      peaks.append(decoded);
      if (!this.#closed) this.waveform.value = { peaks };
    } catch {
      // Without a waveform the bar of the player stays empty.
    }
  }

  #follow(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => {
      if (!this.playing.value) return;
      this.position.value = this.#element.currentTime;
      this.#follow();
    });
  }
}

/** One channel of 16-bit samples. @throws if the browser cannot decode it */
export async function decodeAudio(file: Blob, sampleRate: number): Promise<Int16Array<ArrayBuffer>> {
  const context = new OfflineAudioContext(1, 1, sampleRate);
  const decoded = await context.decodeAudioData(await file.arrayBuffer());
  return mixToInt16(Array.from({ length: decoded.numberOfChannels }, (_, index) => decoded.getChannelData(index)));
}

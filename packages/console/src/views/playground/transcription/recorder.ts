/**
 * Records from the microphone. The recording becomes a WAV file: other formats of browsers have no length and no index, and
 * Safari's needs a decoder that servers may not have.
 */
import { signal } from "@preact/signals";
import { decodeAudio } from "../audio/file-player.ts";
import { wavFile } from "../audio/wav-file.ts";

/** What recognizers use. */
const sampleRate = 16_000;
const longestSeconds = 1_800;

export class Recorder {
  /** 0 to 1. */
  readonly level = signal(0);
  readonly seconds = signal(0);
  readonly #stream: MediaStream;
  readonly #recorder: MediaRecorder;
  readonly #context = new AudioContext();
  readonly #pieces: Blob[] = [];
  readonly #startedMs = performance.now();
  #frame = 0;

  private constructor(stream: MediaStream, onLimit: () => void) {
    this.#stream = stream;
    this.#recorder = new MediaRecorder(stream);
    this.#recorder.addEventListener("dataavailable", ({ data }) => this.#pieces.push(data));
    this.#recorder.start(1_000);
    const analyser = this.#context.createAnalyser();
    analyser.fftSize = 1_024;
    this.#context.createMediaStreamSource(stream).connect(analyser);
    const samples = new Float32Array(analyser.fftSize);
    const measure = (): void => {
      analyser.getFloatTimeDomainData(samples);
      const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
      // From -60 dB to 0 dB.
      this.level.value = Math.max(0, Math.min(1, 1 + (10 * Math.log10(power + 1e-12)) / 60));
      this.seconds.value = (performance.now() - this.#startedMs) / 1000;
      if (this.seconds.value >= longestSeconds) onLimit();
      else this.#frame = requestAnimationFrame(measure);
    };
    measure();
  }

  /**
   * @param onLimit is called when the recording is as long as it may be
   * @throws Error that says what to do
   */
  static async start(onLimit: () => void): Promise<Recorder> {
    if (!isSecureContext || navigator.mediaDevices === undefined) throw new Error(insecureMessage);
    try {
      return new Recorder(await navigator.mediaDevices.getUserMedia({ audio: true }), onLimit);
    } catch (error) {
      throw new Error(explain(error as Error), { cause: error });
    }
  }

  /** @throws Error if the browser recorded nothing */
  async stop(): Promise<File> {
    const stopped = new Promise((resolve) => this.#recorder.addEventListener("stop", resolve, { once: true }));
    this.#recorder.stop();
    await stopped;
    this.close();
    const recording = new Blob(this.#pieces, { type: this.#recorder.mimeType });
    const samples = await decodeAudio(recording, sampleRate).catch(() => new Int16Array(0));
    if (samples.length === 0) throw new Error("The browser recorded nothing. Check the microphone, then record again.");
    return new File(wavFile(samples, sampleRate), "recording.wav", { type: "audio/wav" });
  }

  /** Releases the microphone. */
  close(): void {
    cancelAnimationFrame(this.#frame);
    for (const track of this.#stream.getTracks()) track.stop();
    void this.#context.close().catch(() => {
      // It is closed already.
    });
  }
}

const insecureMessage =
  "Browsers allow recording only on pages served with HTTPS or from this computer (localhost). Choose a file instead, or open the console at such an address.";

function explain({ name, message }: Error): string {
  switch (name) {
    case "NotAllowedError":
      return "This page may not use the microphone. Allow it in the browser's settings for this site, left of the address, then record again.";
    case "NotFoundError":
      return "No microphone was found. Connect one, then record again, or choose a file.";
    case "NotReadableError":
      return "The microphone cannot be read. Close other programs that use it, then record again.";
    default:
      return `The microphone cannot be used: ${message}`;
  }
}

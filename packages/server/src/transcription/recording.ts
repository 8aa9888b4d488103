/** An uploaded recording, decoded as it arrives, once for each time that an engine opens it. */
import type { AudioInput } from "../audio/audio-input.ts";
import type { DecoderPool } from "../audio/decoder-pool.ts";
import type { FfmpegDecoder } from "../audio/ffmpeg-decoder.ts";
import { readAudio } from "../audio/read-audio.ts";
import type { FormFile } from "../http/form.ts";
import type { RecordedAudio } from "../engines/engine.ts";

export interface Recording extends RecordedAudio {
  /** For logs, such as `16-bit PCM`. */
  readonly encoding: string;
  /** Whether it has any samples; waits for the first. */
  hasSound(): Promise<boolean>;
  /** Seconds that were read. */
  readonly readSeconds: number;
  /** Seconds that the recording has at least: exact for samples that are not compressed, else what was read. */
  readonly lengthSeconds: number;
  /** Total seconds; decodes the rest if no engine has. */
  duration(): Promise<number>;
  /** Releases what was read ahead. */
  close(): Promise<void>;
}

export interface RecordingOptions {
  readonly limits: { readonly maxSeconds: number };
  readonly decoders: DecoderPool;
  readonly ffmpeg: FfmpegDecoder;
  /** The organization; decoders are shared fairly between organizations. */
  readonly owner: string;
  /** Stops all reads with its reason. */
  readonly signal: AbortSignal;
}

/**
 * Reads up to the first samples.
 * @throws AppError invalid_request for a damaged file, unsupported_media_type for an unknown format; the errors of the form
 */
export async function openRecording(file: FormFile, options: RecordingOptions): Promise<Recording> {
  const { mediaType, fileName } = file;
  const read = (): Promise<AudioInput> => readAudio(() => file.read(), { mediaType, fileName, ...options });
  const first = await read();
  const { sampleRate, encoding, bytesPerSecond } = first;
  /** Read ahead to check for samples; used by the first `open`. */
  let begun: AudioInput | undefined = first;
  let heardSeconds = 0;
  let wholeSeconds: number | undefined;

  async function* open(rate?: number) {
    const input = begun ?? (await read());
    begun = undefined;
    for await (const samples of input.open(rate)) {
      heardSeconds = Math.max(heardSeconds, input.heardSeconds);
      yield samples;
    }
    wholeSeconds = input.heardSeconds;
    heardSeconds = Math.max(heardSeconds, wholeSeconds);
  }

  return {
    sampleRate,
    encoding,
    open,
    hasSound: async () => begun === undefined || (await begun.hasSound()),
    async duration() {
      if (wholeSeconds === undefined) for await (const samples of open()) samples satisfies Float32Array;
      return wholeSeconds ?? 0;
    },
    get readSeconds() {
      return heardSeconds;
    },
    get lengthSeconds() {
      return Math.max(heardSeconds, bytesPerSecond === undefined ? 0 : file.length / bytesPerSecond);
    },
    async close() {
      await begun?.close();
      begun = undefined;
    },
  };
}

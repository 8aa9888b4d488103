/** An upload as a recording: decoded as it comes, as often as engines ask for it. */
import type { AudioInput } from "../audio/audio-input.ts";
import type { DecoderPool } from "../audio/decoder-pool.ts";
import { readAudio } from "../audio/read-audio.ts";
import type { FormFile } from "../http/form.ts";
import type { RecordedAudio } from "../engines/engine.ts";

export interface Recording extends RecordedAudio {
  /** For logs, such as `16-bit PCM`. */
  readonly encoding: string;
  /** Whether there is any sound at all; waits for the first of it. */
  hasSound(): Promise<boolean>;
  /** How much of it was read, in seconds. */
  readonly heardSeconds: number;
  /** How long it is, in seconds; reads what no engine has read. */
  duration(): Promise<number>;
  /** Forgets what was read ahead. */
  close(): Promise<void>;
}

export interface RecordingOptions {
  readonly limits: { readonly maxSeconds: number };
  readonly decoders: DecoderPool;
  /** The organization, which takes turns with others for a decoder. */
  readonly owner: string;
  /** Ends every reading with its reason when it aborts. */
  readonly signal: AbortSignal;
}

/**
 * Reads up to the first sound.
 * @throws AppError invalid_request for a damaged file, unsupported_media_type for a kind that is not read; as the form does
 */
export async function openRecording(file: FormFile, options: RecordingOptions): Promise<Recording> {
  const { mediaType, fileName } = file;
  const read = (): Promise<AudioInput> => readAudio(() => file.read(), { mediaType, fileName, ...options });
  const first = await read();
  const { sampleRate, encoding } = first;
  /** What was read to see whether there is sound, for the first who opens it. */
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
    get heardSeconds() {
      return heardSeconds;
    },
    async close() {
      await begun?.close();
      begun = undefined;
    },
  };
}

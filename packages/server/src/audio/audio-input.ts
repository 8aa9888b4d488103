/** Reads recorded audio as mono samples while its bytes still arrive. */
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import type { ByteReader } from "./byte-reader.ts";
import type { SampleEncoding } from "./sample-encodings.ts";

/** What a recording is. */
interface AudioFormat {
  /** In Hz. */
  readonly sampleRate: number;
  /** Of the source; the samples are their mean. */
  readonly channels: number;
  /** For logs, such as `16-bit PCM`. */
  readonly encoding: string;
  /** Bytes of the file per second, if its samples are not compressed. */
  readonly bytesPerSecond?: number | undefined;
}

export interface SampleSource extends AudioFormat {
  /**
   * The sound, in pieces as they arrive; to be gone through once. Reads the source to its end, or closes it when it is
   * left early. Throws AppError `payload_too_large` when the sound is longer than allowed.
   */
  readonly samples: AsyncIterable<Float32Array>;
}

export interface AudioInput extends AudioFormat {
  /** Whether there are any samples; waits for the first. */
  hasSound(): Promise<boolean>;
  /** The sound resampled to `rate` Hz if given, in pieces of bounded length; otherwise as `SampleSource.samples`. */
  open(rate?: number): AsyncGenerator<Float32Array<ArrayBuffer>, void, undefined>;
  /** How much of it was read, in seconds. */
  readonly heardSeconds: number;
  /** Closes the source. Not needed once `open` was called: it does so at its end. */
  close(): Promise<void>;
}

export interface AudioLimits {
  /** Longest sound, in seconds. */
  readonly maxSeconds: number;
}

/** Four hours. */
export const defaultAudioLimits: AudioLimits = { maxSeconds: 4 * 60 * 60 };

/** For the messages of refusals. */
export const readableFiles =
  "WAV, MP3, FLAC, Ogg (Opus or Vorbis), WebM or MP4 (Opus), or raw samples as audio/pcm, audio/L16, .pcm or .raw";

export const aacAdvice =
  "The server needs ffmpeg to decode AAC and Apple Lossless: install it there, or convert the file, for example with `ffmpeg -i recording.m4a recording.mp3`.";

export const lowestRate = 1000;
const area = "Transcription and audio";
export const highestRate = inputLimit({
  area,
  bounds: "Sample rate of a recording",
  value: 768_000,
  unit: "Hz",
  error: "invalid_request",
});
export const mostChannels = inputLimit({
  area,
  bounds: "Channels of a recording",
  value: 64,
  error: "invalid_request",
});
/** Bytes decoded between two checks of the time. */
const pieceBytes = 16 * 1024;

export interface SampleLayout {
  readonly encoding: SampleEncoding;
  readonly sampleRate: number;
  readonly channels: number;
}

export function bytesPerSecond({ encoding, sampleRate, channels }: SampleLayout): number {
  return encoding.bytes * channels * sampleRate;
}

/** Throws AppError `invalid_request` for rates and numbers of channels that no recording has. */
export function checkLayout(sampleRate: number, channels: number): void {
  if (!Number.isInteger(sampleRate) || sampleRate < lowestRate || sampleRate > highestRate) {
    throw new AppError(
      "invalid_request",
      `The audio's sample rate is ${String(sampleRate)} Hz; it must be between ${String(lowestRate)} and ${String(highestRate)} Hz.`,
      { param: "file" },
    );
  }
  if (!Number.isInteger(channels) || channels < 1 || channels > mostChannels) {
    throw new AppError(
      "invalid_request",
      `The audio has ${String(channels)} channels; it must have 1 to ${String(mostChannels)}.`,
      { param: "file" },
    );
  }
}

/** The next `dataBytes` bytes of the reader (Infinity: all) as mono samples; what follows them is read and dropped. */
export async function* decodeSamples(
  reader: ByteReader,
  layout: SampleLayout,
  limits: AudioLimits & { readonly dataBytes: number },
): AsyncGenerator<Float32Array, void> {
  const frameBytes = layout.encoding.bytes * layout.channels;
  let missing = limits.dataBytes;
  let samplesLeft = limits.maxSeconds * layout.sampleRate;
  /** Bytes of a frame whose rest has not come yet. */
  let rest: Uint8Array = new Uint8Array(0);
  try {
    while (missing > 0) {
      const piece = await reader.readSome(Math.min(pieceBytes, missing));
      if (piece === null) return;
      missing -= piece.length;
      const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
      const whole = bytes.length - (bytes.length % frameBytes);
      // Copied: the source may overwrite its piece when the next one is requested.
      rest = bytes.slice(whole);
      if (whole === 0) continue;
      samplesLeft -= whole / frameBytes;
      if (samplesLeft < 0) throw tooLong(limits.maxSeconds);
      yield mixDown(bytes.subarray(0, whole), layout);
    }
    await reader.skip(Infinity);
  } finally {
    await reader.close();
  }
}

export function tooLong(maxSeconds: number): AppError {
  return new AppError(
    "payload_too_large",
    `The audio is longer than ${String(maxSeconds)} seconds, which is the limit. Send a shorter recording.`,
    {
      param: "file",
    },
  );
}

/** Planar channels, mixed down to their mean. */
export function mixChannels(channels: readonly Float32Array[]): Float32Array {
  const [first = new Float32Array(0)] = channels;
  if (channels.length < 2) return first;
  const mean = new Float32Array(first.length);
  for (const channel of channels) {
    for (let index = 0; index < mean.length; index += 1) mean[index] = mean[index]! + (channel[index] ?? 0);
  }
  for (let index = 0; index < mean.length; index += 1) mean[index] = mean[index]! / channels.length;
  return mean;
}

/** Whole frames as mono samples: the mean of the channels. */
function mixDown(bytes: Uint8Array, { encoding, channels }: SampleLayout): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const samples = new Float32Array(bytes.length / (encoding.bytes * channels));
  let offset = 0;
  for (let index = 0; index < samples.length; index += 1) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) {
      sum += encoding.read(view, offset);
      offset += encoding.bytes;
    }
    samples[index] = sum / channels;
  }
  return samples;
}

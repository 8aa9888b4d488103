/** Turns the output of a decoder into a `SampleSource`: mixed down to mono, within the limits on audio. */
import { AppError } from "../errors.ts";
import { type AudioLimits, checkLayout, mixChannels, type SampleSource, tooLong } from "./audio-input.ts";
import type { ByteReader } from "./byte-reader.ts";
import { boundedSample } from "./sample-encodings.ts";

/** The output of decoders: separate channels. */
export interface DecodedAudio {
  readonly channelData: readonly Float32Array[];
  readonly samplesDecoded: number;
  readonly sampleRate: number;
}

/** A decoder that takes a file's bytes in any pieces. */
interface StreamDecoder {
  readonly ready: Promise<void>;
  decode(bytes: Uint8Array): DecodedAudio | Promise<DecodedAudio>;
  /** Returns the rest, for decoders that buffer. */
  flush?(): Promise<DecodedAudio>;
  free(): void;
}

/**
 * Decodes the reader's bytes, then frees the decoder and closes the reader.
 * @param options.format the format's usual name, such as `MP3`
 * @param options.pieceBytes bytes per decoder call
 * @throws AppError `invalid_request` for bytes that the decoder rejects
 */
export async function* decodeStream(
  reader: ByteReader,
  decoder: StreamDecoder,
  { format, pieceBytes }: { readonly format: string; readonly pieceBytes: number },
): AsyncGenerator<DecodedAudio, void, undefined> {
  try {
    await decoder.ready;
    for (let piece = await reader.readSome(pieceBytes); piece !== null; piece = await reader.readSome(pieceBytes)) {
      const bytes = piece;
      yield await decoding(format, () => decoder.decode(bytes));
    }
    if (decoder.flush !== undefined) yield await decoding(format, () => decoder.flush!());
  } finally {
    free(decoder);
    await reader.close();
  }
}

async function decoding<T>(format: string, decode: () => T | Promise<T>): Promise<T> {
  try {
    return await decode();
  } catch (error) {
    throw damaged(format, "its decoder crashed", error);
  }
}

/** Frees a decoder's memory. A broken decoder may fail again; then the garbage collector frees its whole instance. */
export function free(decoder: { free(): void }): void {
  try {
    decoder.free();
  } catch {
    // Nothing refers to the instance any more.
  }
}

/**
 * Waits for the first samples. Damaged frames, which contain none, are skipped.
 * @param format as people call it, such as `MP3`
 * @throws AppError `invalid_request` if there is no sound in it
 */
export async function toSampleSource(
  sounds: AsyncGenerator<DecodedAudio, void, undefined>,
  { format, limits }: { format: string; limits: AudioLimits },
): Promise<SampleSource> {
  try {
    const first = await nextSound(sounds);
    if (first === null) throw damaged(format, "it contains no audio");
    checkLayout(first.sampleRate, first.channelData.length);
    return {
      sampleRate: first.sampleRate,
      channels: first.channelData.length,
      encoding: format,
      samples: mixed(sounds, { first, format, limits }),
    };
  } catch (error) {
    await sounds.return();
    throw error;
  }
}

async function* mixed(
  sounds: AsyncGenerator<DecodedAudio, void, undefined>,
  { first, format, limits }: { first: DecodedAudio; format: string; limits: AudioLimits },
): AsyncGenerator<Float32Array, void> {
  let samplesLeft = limits.maxSeconds * first.sampleRate;
  try {
    for (let sound: DecodedAudio | null = first; sound !== null; sound = await nextSound(sounds)) {
      if (sound.sampleRate !== first.sampleRate) throw damaged(format, "its sample rate changes within the file");
      samplesLeft -= sound.samplesDecoded;
      if (samplesLeft < 0) throw tooLong(limits.maxSeconds);
      yield withinFullScale(mixChannels(sound.channelData));
    }
  } finally {
    await sounds.return();
  }
}

/** Damaged frames may decode to anything, and NaN would spread through filters to all later samples. */
function withinFullScale(samples: Float32Array): Float32Array {
  for (let index = 0; index < samples.length; index += 1) samples[index] = boundedSample(samples[index]!);
  return samples;
}

/** The next piece that is not empty; null at the end. */
async function nextSound(sounds: AsyncGenerator<DecodedAudio, void, undefined>): Promise<DecodedAudio | null> {
  for (;;) {
    const { done, value } = await sounds.next();
    if (done === true) return null;
    if (value.samplesDecoded > 0) return value;
  }
}

/** The error for a damaged file, with the reason. */
export function damaged(format: string, reason: string, cause?: unknown): AppError {
  return new AppError("invalid_request", `The ${format} file is damaged: ${reason}.`, { param: "file", cause });
}

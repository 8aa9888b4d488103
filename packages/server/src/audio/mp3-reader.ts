/**
 * Reading MP3 while it arrives: mpg123, as WebAssembly that is loaded with the first such file. https://github.com/eshaz/wasm-audio-decoders
 */
import type { AudioInput, AudioLimits } from "./audio-input.ts";
import type { ByteReader } from "./byte-reader.ts";
import { decodeStream, toAudioInput } from "./decoded-sound.ts";

/** Whether a file begins like MP3: with an ID3 tag, or with a frame of MPEG audio. */
export function looksLikeMp3(start: Uint8Array): boolean {
  const [first = 0, second = 0, third = 0] = start;
  const hasTag = first === 0x49 && second === 0x44 && third === 0x33;
  const isFrame = first === 0xff && (second & 0xe0) === 0xe0 && (second & 0x06) !== 0;
  return hasTag || (isFrame && third >> 4 !== 15 && (third & 0x0c) !== 0x0c);
}

/**
 * Reads up to the first sound.
 * @throws AppError `invalid_request` if there is no sound in it.
 */
export async function readMp3(reader: ByteReader, limits: AudioLimits): Promise<AudioInput> {
  const { MPEGDecoder } = await import("mpg123-decoder");
  return toAudioInput(decodeStream(reader, new MPEGDecoder(), "MP3"), { format: "MP3", limits });
}

/**
 * Reading FLAC, and Vorbis in Ogg, while they arrive: the Xiph decoders as WebAssembly, loaded with the first such file.
 * https://github.com/eshaz/wasm-audio-decoders
 */
import type { AudioInput, AudioLimits } from "./audio-input.ts";
import type { ByteReader } from "./byte-reader.ts";
import { decodeStream, toAudioInput } from "./decoded-sound.ts";

/** @throws AppError `invalid_request` if there is no sound in it */
export async function readFlac(reader: ByteReader, limits: AudioLimits): Promise<AudioInput> {
  const { FLACDecoder } = await import("@wasm-audio-decoders/flac");
  return toAudioInput(decodeStream(reader, new FLACDecoder(), "FLAC"), { format: "FLAC", limits });
}

/** @throws AppError `invalid_request` if there is no sound in it */
export async function readOggVorbis(reader: ByteReader, limits: AudioLimits): Promise<AudioInput> {
  const { OggVorbisDecoder } = await import("@wasm-audio-decoders/ogg-vorbis");
  return toAudioInput(decodeStream(reader, new OggVorbisDecoder(), "Ogg Vorbis"), { format: "Ogg Vorbis", limits });
}

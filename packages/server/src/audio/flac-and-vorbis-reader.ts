/**
 * Decodes FLAC, and Vorbis in Ogg, with the Xiph decoders as WebAssembly, loaded with the first such file.
 * https://github.com/eshaz/wasm-audio-decoders
 */
import { inputLimit } from "../input-limits.ts";
import type { ByteReader } from "./byte-reader.ts";
import { damaged, type DecodedAudio, decodeStream } from "./decoded-audio.ts";

/**
 * Bytes that are decoded at once. Silence compresses without bound: 26 bytes of FLAC may hold 65,535 samples of eight
 * channels, one byte of Vorbis 4,096. With pieces of these lengths no more than 80 MB are decoded at once.
 */
const pieceBytes = { flac: 1024, vorbis: 1024, vorbisOfTwoChannels: 4096 };
/** The numbers of channels whose order the Vorbis specification defines. A page of more could take gigabytes. */
export const mostVorbisChannels = inputLimit({
  area: "Transcription and audio",
  bounds: "Channels of Ogg Vorbis",
  value: 8,
  error: "invalid_request",
});
/** Bytes at the front in which the head of the sound is. */
const headBytes = 64;

/** @throws AppError `invalid_request` for bytes at which the decoder breaks */
export async function* decodeFlac(reader: ByteReader): AsyncGenerator<DecodedAudio, void, undefined> {
  const { FLACDecoder } = await import("@wasm-audio-decoders/flac");
  yield* decodeStream(reader, new FLACDecoder(), { format: "FLAC", pieceBytes: pieceBytes.flac });
}

/** @throws AppError `invalid_request` for bytes at which the decoder breaks, and for more than 8 channels */
export async function* decodeOggVorbis(reader: ByteReader): AsyncGenerator<DecodedAudio, void, undefined> {
  const head = Buffer.from(await reader.peek(headBytes));
  const channels = head[head.indexOf("\x01vorbis", 0, "latin1") + 11] ?? 0;
  if (channels > mostVorbisChannels) {
    throw damaged("Ogg Vorbis", `it has ${channels} channels; Vorbis supports at most ${mostVorbisChannels}`);
  }
  const { OggVorbisDecoder } = await import("@wasm-audio-decoders/ogg-vorbis");
  yield* decodeStream(reader, new OggVorbisDecoder(), {
    format: "Ogg Vorbis",
    pieceBytes: channels > 2 ? pieceBytes.vorbis : pieceBytes.vorbisOfTwoChannels,
  });
}

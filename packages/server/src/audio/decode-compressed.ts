/** Decodes compressed audio with libraries that were not written for hostile files; only decoder workers may call it. */
import type { ByteReader } from "./byte-reader.ts";
import type { CompressedKind } from "./compressed-kind.ts";
import type { DecodedAudio } from "./decoded-audio.ts";
import { decodeFlac, decodeOggVorbis } from "./flac-and-vorbis-reader.ts";
import { decodeMp3 } from "./mp3-reader.ts";
import { decodeOpus } from "./opus-reader.ts";

type Decode = (reader: ByteReader) => AsyncGenerator<DecodedAudio, void, undefined>;

const decoders: Readonly<Record<CompressedKind, Decode>> = {
  flac: decodeFlac,
  vorbis: decodeOggVorbis,
  ogg: (reader) => decodeOpus(reader, "Ogg"),
  webm: (reader) => decodeOpus(reader, "WebM"),
  mp4: (reader) => decodeOpus(reader, "MP4"),
  mp3: decodeMp3,
};

/** @throws AppError `invalid_request` for a damaged file, `unsupported_media_type` for other sound than the kind promises */
export function decodeCompressed(kind: CompressedKind, reader: ByteReader): ReturnType<Decode> {
  return decoders[kind](reader);
}

/** Decodes MP3 with mpg123 as WebAssembly, loaded with the first such file. https://github.com/eshaz/wasm-audio-decoders */
import type { ByteReader } from "./byte-reader.ts";
import { type DecodedAudio, decodeStream } from "./decoded-audio.ts";

/** At most 2 MB of samples: a frame of MP3 has 24 bytes or more and 1,152 samples or fewer. */
const pieceBytes = 8 * 1024;

/** @throws AppError `invalid_request` for bytes at which the decoder breaks */
export async function* decodeMp3(reader: ByteReader): AsyncGenerator<DecodedAudio, void, undefined> {
  const { MPEGDecoder } = await import("mpg123-decoder");
  yield* decodeStream(reader, new MPEGDecoder(), { format: "MP3", pieceBytes });
}

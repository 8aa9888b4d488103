/**
 * Parses the `fmt ` chunk of a WAV file, which describes its samples.
 * https://www.mmsp.ece.mcgill.ca/Documents/AudioFormats/WAVE/WAVE.html
 */
import { AppError } from "../errors.ts";
import { checkLayout, type SampleLayout } from "./audio-input.ts";
import { sampleEncodings, type SampleEncodingName } from "./sample-encodings.ts";

const tagExtensible = 0xfffe;
/** What follows the format tag in the subformat of WAVE_FORMAT_EXTENSIBLE. */
const subformatEnd = "000000001000800000aa00389b71";

/** What we read: format tag, then bytes of a sample. */
const readable: Readonly<Record<number, Readonly<Record<number, SampleEncodingName>>>> = {
  1: { 1: "pcm8", 2: "pcm16", 3: "pcm24", 4: "pcm32" },
  3: { 4: "float32", 8: "float64" },
  6: { 1: "aLaw" },
  7: { 1: "muLaw" },
};

export const wavEncodings: readonly SampleEncodingName[] = Object.values(readable).flatMap((bySize) =>
  Object.values(bySize),
);

/** Names for what we do not read. https://www.rfc-editor.org/rfc/rfc2361 */
export const otherWavEncodings: Readonly<Record<number, string>> = {
  0x02: "Microsoft ADPCM",
  0x11: "IMA ADPCM",
  0x31: "GSM 6.10",
  0x40: "G.721 ADPCM",
  0x50: "MPEG",
  0x55: "MP3",
  0xff: "AAC",
  0x161: "Windows Media Audio",
};

/** Reads the chunk. Throws AppError: `unsupported_media_type` for other encodings, `invalid_request` for nonsense. */
export function readWavFormat(bytes: Uint8Array): SampleLayout {
  if (bytes.length < 16) throw damagedWav(`its format chunk has ${String(bytes.length)} bytes instead of 16 or more`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const channels = view.getUint16(2, true);
  const sampleRate = view.getUint32(4, true);
  checkLayout(sampleRate, channels);
  const tag = formatTag(view, bytes);
  const encodings = readable[tag];
  if (encodings === undefined) throw unsupportedEncoding(otherWavEncodings[tag] ?? `format tag 0x${tag.toString(16)}`);
  const sampleBytes = bytesOfSample(channels, view.getUint16(12, true), view.getUint16(14, true));
  const name = encodings[sampleBytes];
  if (name === undefined) {
    const kind = { 1: "PCM", 3: "float" }[tag] ?? "A-law or mu-law";
    throw unsupportedEncoding(`${String(sampleBytes * 8)}-bit ${kind}`);
  }
  return { encoding: sampleEncodings[name], sampleRate, channels };
}

function formatTag(view: DataView, bytes: Uint8Array): number {
  const tag = view.getUint16(0, true);
  if (tag !== tagExtensible) return tag;
  if (bytes.length < 40) {
    throw damagedWav(`its extensible format chunk has ${String(bytes.length)} bytes instead of 40`);
  }
  const subformat = Buffer.from(bytes.subarray(26, 40)).toString("hex");
  if (subformat !== subformatEnd) throw unsupportedEncoding("a vendor-specific subformat");
  return view.getUint16(24, true);
}

/** Bytes of one sample of one channel. Smaller samples are left-aligned, so only the number of bytes matters. */
function bytesOfSample(channels: number, blockBytes: number, bits: number): number {
  const fromBits = Math.ceil(bits / 8);
  const fromBlock = blockBytes / channels;
  if (Number.isInteger(fromBlock) && fromBlock > 0) {
    const isPadded = fromBits === 3 && fromBlock === 4;
    if (fromBits === 0 || fromBits === fromBlock || isPadded) return fromBlock;
  } else if (fromBits > 0) {
    // Some writers set a wrong or empty block size; then the bits per sample decide.
    return fromBits;
  }
  throw damagedWav(
    `${String(channels)} channels of ${String(bits)} bits do not fit into blocks of ${String(blockBytes)} bytes`,
  );
}

function unsupportedEncoding(encoding: string): AppError {
  return new AppError(
    "unsupported_media_type",
    `This WAV file contains ${encoding}. Sounding reads WAV with PCM of 8, 16, 24 or 32 bits, float of 32 or 64 bits, A-law or mu-law.`,
    { param: "file" },
  );
}

/** The error for a damaged WAV file, with the reason. */
export function damagedWav(reason: string): AppError {
  return new AppError("invalid_request", `The WAV file is damaged: ${reason}.`, { param: "file" });
}

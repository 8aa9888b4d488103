/**
 * Detects the format of an uploaded recording and reads it.
 * docs/adr/0017-transcription.md
 */
import { AppError } from "../errors.ts";
import {
  type AudioInput,
  type AudioLimits,
  bytesPerSecond,
  checkLayout,
  decodeSamples,
  defaultAudioLimits,
  aacAdvice,
  readableFiles,
  type SampleSource,
} from "./audio-input.ts";
import { type ByteReader, createByteReader } from "./byte-reader.ts";
import { compressedKind, kindBytes, kindNames } from "./compressed-kind.ts";
import type { DecoderPool } from "./decoder-pool.ts";
import type { FfmpegContainer, FfmpegDecoder } from "./ffmpeg-decoder.ts";
import { toAudioInput } from "./pcm-input.ts";
import { sampleEncodings } from "./sample-encodings.ts";
import { looksLikeWav, readWav } from "./wav-reader.ts";

interface Upload {
  /** The part's content type with its parameters, such as `audio/L16; rate=8000`. */
  readonly mediaType?: string | undefined;
  readonly fileName?: string | undefined;
  readonly limits?: AudioLimits | undefined;
  /** Absent: only WAV and raw samples are read. */
  readonly decoders?: DecoderPool | undefined;
  /** Absent: AAC and Apple Lossless are refused. */
  readonly ffmpeg?: FfmpegDecoder | undefined;
  /** Who takes turns with others for a decoder: an organization. */
  readonly owner?: string | undefined;
  /** Ends the reading with its reason when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/** Of raw samples whose media type does not say otherwise. */
const defaultRawRate = 16_000;

/** Bytes at the front by which a WAV file is known; raw samples may be no more for a while. */
const wavStartBytes = 12;
/**
 * Reads WAV, MP3, FLAC, Ogg (Opus, Vorbis), WebM, Matroska and MP4 (Opus), or raw samples: those whose media type is
 * `audio/pcm` or `audio/L16`, or whose name ends in `.pcm` or `.raw`. A file that begins like WAV is read as WAV, whatever it is
 * called. WAV and raw samples are read here; everything else is decoded in a worker.
 * @param source returns the file from its beginning each time it is called
 * @throws AppError `unsupported_media_type` for other kinds of audio, `invalid_request` for damaged or missing audio.
 */
export async function readAudio(
  source: AsyncIterable<Uint8Array> | (() => AsyncIterable<Uint8Array>),
  upload: Upload = {},
): Promise<AudioInput> {
  const { mediaType, fileName, limits = defaultAudioLimits, decoders } = upload;
  const reopen = typeof source === "function" ? source : undefined;
  const reader = createByteReader(typeof source === "function" ? source() : source);
  try {
    const wavStart = await reader.peek(wavStartBytes);
    if (wavStart.length === 0) throw new AppError("invalid_request", "The audio file is empty.", { param: "file" });
    if (looksLikeWav(wavStart)) return toAudioInput(await readWav(reader, limits));
    const media = parseMediaType(mediaType);
    const isRawName = /\.(?:pcm|raw)$/i.test(fileName ?? "");
    if (media.type === "audio/pcm" || media.type === "audio/l16" || isRawName) {
      return toAudioInput(await readRaw(reader, media, limits));
    }
    const start = await reader.peek(kindBytes);
    const kind = compressedKind(start);
    if (kind === undefined) {
      const text = Buffer.from(start).toString("latin1");
      const decoded = adtsStart.test(text) ? await decodeWithFfmpeg("AAC", reopen, upload) : undefined;
      if (decoded === undefined) throw notReadable(text);
      await reader.close();
      return decoded;
    }
    if (decoders === undefined) throw otherFile(kindNames[kind]);
    try {
      return await decoders.open({ ...upload, reader, reopen, kind, limits });
    } catch (error) {
      // Another codec than Opus, or an index too far behind to be read from a stream.
      const decoded = kind === "mp4" && isRefusal(error) ? await decodeWithFfmpeg("MP4", reopen, upload) : undefined;
      if (decoded === undefined) throw error;
      return decoded;
    }
  } catch (error) {
    await reader.close();
    throw error;
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof AppError && (error.code === "unsupported_media_type" || error.code === "invalid_request");
}

/** Undefined if ffmpeg is not installed. @throws AppError `invalid_request` for a damaged file */
async function decodeWithFfmpeg(
  container: FfmpegContainer,
  reopen: (() => AsyncIterable<Uint8Array>) | undefined,
  { ffmpeg, limits = defaultAudioLimits, owner = "", signal = new AbortController().signal }: Upload,
): Promise<AudioInput | undefined> {
  if (reopen === undefined) return undefined;
  return ffmpeg?.open({ source: reopen(), container, limits, owner, signal });
}

interface MediaType {
  /** Lower case; empty if missing. */
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

function parseMediaType(mediaType = ""): MediaType {
  const [type = "", ...parts] = mediaType.split(";");
  const parameters = parts.map((part): [string, string] => {
    const [name = "", value = ""] = part.split("=", 2);
    return [name.trim().toLowerCase(), value.trim().replaceAll(/^"|"$/g, "")];
  });
  return { type: type.trim().toLowerCase(), parameters: new Map(parameters) };
}

async function readRaw(reader: ByteReader, media: MediaType, limits: AudioLimits): Promise<SampleSource> {
  const sampleRate = Number(media.parameters.get("rate") ?? defaultRawRate);
  const channels = Number(media.parameters.get("channels") ?? 1);
  checkLayout(sampleRate, channels);
  const isSwapped = media.type === "audio/l16" && (await looksBigEndian(reader));
  const encoding = isSwapped ? sampleEncodings.pcm16BigEndian : sampleEncodings.pcm16;
  const layout = { encoding, sampleRate, channels };
  return {
    sampleRate,
    channels,
    encoding: `raw ${encoding.name}`,
    bytesPerSecond: bytesPerSecond(layout),
    samples: decodeSamples(reader, layout, { ...limits, dataBytes: Infinity }),
  };
}

/** Bytes from which the byte order is detected. */
const probeBytes = 32 * 1024;

/**
 * Whether raw `audio/L16` is big-endian. RFC 2586 requires it, but most senders use little-endian. Sound moves in small
 * steps, and with its bytes swapped in large ones: the order with the smaller steps is right, little-endian on a draw.
 */
async function looksBigEndian(reader: ByteReader): Promise<boolean> {
  const bytes = Buffer.from(await reader.peek(probeBytes));
  let littleSteps = 0;
  let bigSteps = 0;
  for (let offset = 2; offset + 1 < bytes.length; offset += 2) {
    littleSteps += Math.abs(bytes.readInt16LE(offset) - bytes.readInt16LE(offset - 2));
    bigSteps += Math.abs(bytes.readInt16BE(offset) - bytes.readInt16BE(offset - 2));
  }
  return bigSteps < littleSteps;
}

/** How AAC without a container begins. */
const adtsStart = /^\xff[\xf0\xf1\xf8\xf9]/;

/** How other files begin. */
export const otherFiles: readonly { readonly name: string; readonly start: RegExp }[] = [
  { name: "AAC", start: adtsStart },
  { name: "Ogg with neither Opus nor Vorbis", start: /^OggS/ },
  { name: "AIFF", start: /^FORM....AIF[FC]/s },
  { name: "Core Audio", start: /^caff/ },
  { name: "AU", start: /^\.snd/ },
  { name: "AMR", start: /^#!AMR/ },
  { name: "big-endian WAV (RIFX)", start: /^RIFX/ },
];

/** @param text the file's first bytes */
function notReadable(text: string): AppError {
  const other = otherFiles.find((file) => file.start.test(text));
  if (other === undefined) {
    return new AppError(
      "invalid_request",
      `The file is not a supported audio file: its first bytes match no supported format, and neither its media type nor its name indicates raw samples. Send ${readableFiles}.`,
      { param: "file" },
    );
  }
  return otherFile(other.name);
}

function otherFile(name: string): AppError {
  const advice = name === "AAC" ? ` ${aacAdvice}` : "";
  return new AppError("unsupported_media_type", `The file is ${name}. Send ${readableFiles}.${advice}`, {
    param: "file",
  });
}

/**
 * Reads WAV files while they arrive: RIFF, RF64 and BW64, with sizes that are correct, zero, 0xFFFFFFFF or too large.
 * https://www.mmsp.ece.mcgill.ca/Documents/AudioFormats/WAVE/WAVE.html · https://tech.ebu.ch/docs/tech/tech3306.pdf
 */
import {
  type AudioLimits,
  bytesPerSecond,
  decodeSamples,
  defaultAudioLimits,
  type SampleLayout,
  type SampleSource,
} from "./audio-input.ts";
import { type ByteReader, createByteReader } from "./byte-reader.ts";
import { damagedWav, readWavFormat } from "./wav-format.ts";
import { inputLimit } from "../input-limits.ts";

const unknownSize = 0xffff_ffff;
/** Chunks before the samples, and bytes of a chunk that we look into. */
const mostChunks = inputLimit({
  area: "Transcription and audio",
  bounds: "Chunks of a WAV file before its samples",
  value: 1000,
  error: "invalid_request",
});
const largestHeaderChunk = inputLimit({
  area: "Transcription and audio",
  bounds: "A chunk of a WAV file that describes the samples",
  value: 4096,
  unit: "bytes",
  error: "invalid_request",
});

/** Whether these first 12 bytes are those of a WAV file. */
export function looksLikeWav(start: Uint8Array): boolean {
  const text = Buffer.from(start.subarray(0, 12)).toString("latin1");
  return /^(?:RIFF|RF64|BW64)....WAVE$/s.test(text);
}

/**
 * Reads a WAV file up to its samples. A truncated file yields the samples that it contains.
 * @throws AppError `invalid_request` for a damaged file, `unsupported_media_type` for encodings that we do not read.
 */
export async function readWav(
  source: AsyncIterable<Uint8Array> | ByteReader,
  limits: AudioLimits = defaultAudioLimits,
): Promise<SampleSource> {
  const reader = "readSome" in source ? source : createByteReader(source);
  try {
    const { layout, dataBytes } = await readHeader(reader);
    return {
      sampleRate: layout.sampleRate,
      channels: layout.channels,
      encoding: layout.encoding.name,
      bytesPerSecond: bytesPerSecond(layout),
      samples: decodeSamples(reader, layout, { ...limits, dataBytes }),
    };
  } catch (error) {
    await reader.close();
    throw error;
  }
}

interface Header {
  readonly layout: SampleLayout;
  /** Infinity if only the end of the stream determines it. */
  readonly dataBytes: number;
}

async function readHeader(reader: ByteReader): Promise<Header> {
  const start = await reader.read(12);
  if (!looksLikeWav(start)) throw damagedWav("it does not start with RIFF and WAVE");
  const riffBytes = uint32(start, 4);
  let layout: SampleLayout | undefined;
  let longDataBytes: number | undefined;
  for (let count = 0; count < mostChunks; count += 1) {
    const head = await reader.read(8);
    if (head.length < 8) throw damagedWav("it ends before its samples");
    const id = Buffer.from(head.subarray(0, 4)).toString("latin1");
    const size = uint32(head, 4);
    if (id === "data") {
      if (layout === undefined) throw damagedWav("it has no format chunk before its samples");
      return { layout, dataBytes: trueDataBytes(reader, { riffBytes, size, longDataBytes }) };
    }
    const content = id === "fmt " || id === "ds64" ? await readContent(reader, id, size) : undefined;
    if (content === undefined) await reader.skip(size);
    else if (id === "fmt ") layout = readWavFormat(content);
    else if (content.length >= 16) longDataBytes = uint32(content, 8) + uint32(content, 12) * 2 ** 32;
    await reader.skip(size % 2);
  }
  throw damagedWav(`it has more than ${String(mostChunks)} chunks before its samples`);
}

async function readContent(reader: ByteReader, id: string, size: number): Promise<Uint8Array> {
  if (size > largestHeaderChunk) throw damagedWav(`its chunk "${id}" declares a size of ${String(size)} bytes`);
  const content = await reader.read(size);
  if (content.length < size) throw damagedWav("it ends before its samples");
  return content;
}

/** How many bytes of samples follow, according to the header; the writer of a stream did not know it. */
function trueDataBytes(
  reader: ByteReader,
  { riffBytes, size, longDataBytes }: { riffBytes: number; size: number; longDataBytes: number | undefined },
): number {
  if (size === unknownSize) {
    return longDataBytes === undefined || longDataBytes === 0 ? Infinity : longDataBytes;
  }
  if (size > 0) return size;
  // Zero is true only if the file says that something else follows; else it was written before the samples were.
  const somethingFollows = riffBytes !== unknownSize && riffBytes + 8 > reader.position;
  return somethingFollows ? 0 : Infinity;
}

function uint32(bytes: Uint8Array, offset: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(offset, true);
}

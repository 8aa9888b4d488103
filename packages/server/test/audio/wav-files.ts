/**
 * Valid and broken WAV files for tests of the reader.
 */
import type { AudioInput } from "../../src/audio/audio-input.ts";
import { DecoderPool } from "../../src/audio/decoder-pool.ts";
import { readAudio } from "../../src/audio/read-audio.ts";
import { joinSamples } from "../../src/audio/samples.ts";
import { silentLogger } from "../../src/logger.ts";
import { cut } from "./signals.ts";

/** A chunk: id, size (true unless given), content, and a byte of padding if its length is odd. */
export function chunk(id: string, content: Uint8Array, size = content.length): Buffer {
  const head = Buffer.alloc(8);
  head.write(id, 0, "latin1");
  head.writeUInt32LE(size, 4);
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
}

interface Format {
  tag: number;
  bits: number;
  channels?: number;
  sampleRate?: number;
  blockBytes?: number;
  /** The tag is in the subformat of an extensible format. */
  extensible?: boolean;
}

export function formatChunk({ tag, bits, channels = 1, sampleRate = 16_000, ...rest }: Format): Buffer {
  const blockBytes = rest.blockBytes ?? Math.ceil(bits / 8) * channels;
  const content = Buffer.alloc(rest.extensible === true ? 40 : 16);
  content.writeUInt16LE(rest.extensible === true ? 0xfffe : tag, 0);
  content.writeUInt16LE(channels, 2);
  content.writeUInt32LE(sampleRate, 4);
  content.writeUInt32LE((sampleRate * blockBytes) % 2 ** 32, 8);
  content.writeUInt16LE(blockBytes, 12);
  content.writeUInt16LE(bits, 14);
  if (rest.extensible === true) {
    content.writeUInt16LE(22, 16);
    content.writeUInt16LE(bits, 18);
    content.writeUInt16LE(tag, 24);
    Buffer.from("000000001000800000aa00389b71", "hex").copy(content, 26);
  }
  return chunk("fmt ", content);
}

/** A file of chunks; `size` replaces the true one. */
export function riff(
  chunks: readonly Uint8Array[],
  { id = "RIFF", size }: { id?: string; size?: number } = {},
): Buffer {
  const content = Buffer.concat([Buffer.from("WAVE"), ...chunks]);
  const head = Buffer.alloc(8);
  head.write(id, 0, "latin1");
  head.writeUInt32LE(size ?? content.length, 4);
  return Buffer.concat([head, content]);
}

/** A source in pieces, like an upload. */
async function* pieces(all: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void> {
  for (const piece of all) {
    await Promise.resolve();
    yield piece;
  }
}

/** Decodes compressed audio, for all test files of a process; its workers end with the process. */
export const decoders = new DecoderPool({ workers: 2, logger: silentLogger });

interface Heard {
  readonly input: AudioInput;
  readonly samples: Float32Array;
}

/** Reads a file in pieces of these lengths, repeated to its end. */
export async function read(
  bytes: Uint8Array,
  upload: Parameters<typeof readAudio>[1] = {},
  lengths: readonly number[] = [1000],
): Promise<Heard> {
  const input = await readAudio(pieces(cut(bytes, lengths)), { decoders, ...upload });
  const collected: Float32Array[] = [];
  for await (const piece of input.open()) collected.push(piece);
  return { input, samples: joinSamples(collected) };
}

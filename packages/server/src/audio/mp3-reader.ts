/**
 * Reading MP3 while it arrives: mpg123, as WebAssembly. https://github.com/eshaz/wasm-audio-decoders
 */
import { MPEGDecoder } from "mpg123-decoder";

import { AppError } from "../errors.ts";
import { type AudioInput, type AudioLimits, checkLayout, mixChannels, tooLong } from "./audio-input.ts";
import type { ByteReader } from "./byte-reader.ts";

/** Bytes that are decoded at once. */
const pieceBytes = 8 * 1024;

/** Whether a file begins like MP3: with an ID3 tag, or with a frame of MPEG audio. */
export function looksLikeMp3(start: Uint8Array): boolean {
  const [first = 0, second = 0, third = 0] = start;
  const hasTag = first === 0x49 && second === 0x44 && third === 0x33;
  const isFrame = first === 0xff && (second & 0xe0) === 0xe0 && (second & 0x06) !== 0;
  return hasTag || (isFrame && third >> 4 !== 15 && (third & 0x0c) !== 0x0c);
}

/**
 * Reads up to the first sound. Damaged frames are passed over.
 * @throws AppError `invalid_request` if there is no sound in it.
 */
export async function readMp3(reader: ByteReader, limits: AudioLimits): Promise<AudioInput> {
  const decoder = new MPEGDecoder();
  try {
    await decoder.ready;
    const first = await nextSound(decoder, reader);
    if (first === null) throw damagedMp3("there is no sound in it");
    checkLayout(first.sampleRate, first.channelData.length);
    return {
      sampleRate: first.sampleRate,
      channels: first.channelData.length,
      encoding: "MP3",
      samples: decodeRest(decoder, reader, { first, limits }),
    };
  } catch (error) {
    decoder.free();
    throw error;
  }
}

type Decoded = ReturnType<MPEGDecoder["decode"]>;

async function* decodeRest(
  decoder: MPEGDecoder,
  reader: ByteReader,
  { first, limits }: { first: Decoded; limits: AudioLimits },
): AsyncGenerator<Float32Array, void> {
  let samplesLeft = limits.maxSeconds * first.sampleRate;
  try {
    for (let sound: Decoded | null = first; sound !== null; sound = await nextSound(decoder, reader)) {
      if (sound.sampleRate !== first.sampleRate) throw damagedMp3("its sample rate changes on the way");
      samplesLeft -= sound.samplesDecoded;
      if (samplesLeft < 0) throw tooLong(limits.maxSeconds);
      yield mixChannels(sound.channelData);
    }
  } finally {
    decoder.free();
    await reader.close();
  }
}

/** The next piece that is not empty; null at the end. */
async function nextSound(decoder: MPEGDecoder, reader: ByteReader): Promise<Decoded | null> {
  for (;;) {
    const piece = await reader.readSome(pieceBytes);
    if (piece === null) return null;
    const sound = decoder.decode(piece);
    if (sound.samplesDecoded > 0) return sound;
  }
}

function damagedMp3(reason: string): AppError {
  return new AppError("invalid_request", `The MP3 file is damaged: ${reason}.`, { param: "file" });
}

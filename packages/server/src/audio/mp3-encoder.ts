/** Encodes MP3 at a constant bitrate with LAME as WebAssembly (`wasm-media-encoders`). */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { createEncoder as loadLame } from "wasm-media-encoders";

import { AppError } from "../errors.ts";
import type { Encoder } from "./encoder.ts";
import { framesNeeded, infoFrame, splitFrames } from "./mp3-frames.ts";
import { joinBytes } from "./samples.ts";

type Lame = Awaited<ReturnType<typeof loadLame<"audio/mpeg">>>;

/** The sample rates of MPEG-1, MPEG-2 and MPEG-2.5 layer III, each with its bitrate in kbit/s for one voice. */
export const mp3Bitrates = {
  8000: 32,
  11_025: 32,
  12_000: 32,
  16_000: 48,
  22_050: 64,
  24_000: 64,
  32_000: 80,
  44_100: 96,
  48_000: 96,
} as const;
type Mp3SampleRate = keyof typeof mp3Bitrates;

/** Samples that one call into WebAssembly takes. */
const blockLength = 8192;
/** Encoders kept for the next call, to reuse their 16 MiB of address space each. */
const idleLimit = 4;
const idle: Lame[] = [];
let compiled: Promise<WebAssembly.Module> | undefined;

/**
 * An MP3 encoder. Both streams and whole files begin with a LAME tag with the encoder's delay, so that the first
 * sample played is the first pushed; a whole file's tag also has its length, so that the end is cut too.
 * @throws AppError `invalid_request` for a sample rate that MPEG does not have.
 */
export async function createMp3Encoder(sampleRate: number, stream: boolean): Promise<Encoder> {
  if (!(sampleRate in mp3Bitrates)) {
    throw new AppError(
      "invalid_request",
      `sample_rate is ${String(sampleRate)} Hz, which MP3 does not support; it must be one of ${Object.keys(mp3Bitrates).join(", ")}. Set another sample_rate or another response_format.`,
      { param: "sample_rate" },
    );
  }
  const rate = sampleRate as Mp3SampleRate;
  const lame = idle.pop() ?? (await loadEncoder());
  lame.configure({
    channels: 1,
    sampleRate: rate,
    outputSampleRate: rate,
    bitrate: mp3Bitrates[rate],
  });
  return start(lame, stream);
}

async function loadEncoder(): Promise<Lame> {
  compiled ??= readFile(fileURLToPath(import.meta.resolve("wasm-media-encoders/wasm/mp3"))).then(async (bytes) =>
    WebAssembly.compile(bytes),
  );
  return loadLame("audio/mpeg", await compiled);
}

function start(lame: Lame, stream: boolean): Encoder {
  let sampleCount = 0;
  let frameCount = 0;
  let header: Uint8Array | null = null;
  /** Bytes of an incomplete frame, and all frames of a file that is returned at the end. */
  let rest: Uint8Array = new Uint8Array(0);
  const fileFrames: Uint8Array[] = [];

  /** Emits complete frames, after the tag if they are a stream's first. */
  const pass = (bytes: Uint8Array, limit?: number): Uint8Array => {
    const { frames, count, rest: cut } = splitFrames(joinBytes([rest, bytes]), limit);
    rest = cut;
    frameCount += count;
    if (count > 0 && header === null) {
      header = frames.slice(0, 4);
      if (stream) return joinBytes([infoFrame(header, null), frames]);
    }
    return frames;
  };
  const encodeAll = (samples: Float32Array): Uint8Array => {
    const pieces: Uint8Array[] = [];
    for (let position = 0; position < samples.length; position += blockLength) {
      const block = samples.subarray(position, position + blockLength);
      // The encoder owns what it returns: copy before the next call.
      pieces.push(lame.encode([block]).slice());
    }
    return joinBytes(pieces);
  };

  return {
    contentType: "audio/mpeg",
    delaySeconds: 0,
    push(samples) {
      sampleCount += samples.length;
      const frames = pass(encodeAll(samples));
      if (stream) return frames;
      fileFrames.push(frames);
      return new Uint8Array(0);
    },
    end() {
      const flushed = lame.finalize().slice();
      // LAME flushes up to two frames of silence more than needed to play the last sample.
      const limit = framesNeeded(header ?? flushed, sampleCount) - frameCount;
      const last = pass(flushed, limit);
      if (idle.length < idleLimit) idle.push(lame);
      if (stream) return last;
      const frames = joinBytes([...fileFrames, last]);
      if (header === null) return frames;
      const tag = infoFrame(header, { frameCount, audioBytes: frames.length, sampleCount });
      return joinBytes([tag, frames]);
    },
  };
}

/**
 * Changes the speed of speech at the same pitch with Sonic as WebAssembly.
 * https://github.com/waywardgeek/sonic
 */
import loadSonic from "@echogarden/sonic-wasm";

import { AppError } from "../errors.ts";
import { passThrough, type SampleStream } from "./sample-stream.ts";
import { joinSamples } from "./samples.ts";
import { ownNativeObject } from "./webassembly-memory.ts";

export const slowestSpeed = 0.25;
export const fastestSpeed = 4;

/** Sound that one call into WebAssembly takes. */
const blockSeconds = 0.02;
/** Sonic adds and removes whole periods of the voice, of at most 1/65 s, and buffers about this many of them. */
const lowestPitch = 65;
const heldPeriods = 1.5;
/**
 * Periods are rounded, so that the true speed is off by up to a hundredth, and times would drift. What the output is
 * ahead is taken out of the speed over so many seconds of input.
 */
const correctionSeconds = 0.5;
const correctionLimit = 0.03;

type Sonic = Awaited<ReturnType<typeof loadSonic>>;
let loaded: Promise<Sonic> | undefined;

/**
 * A stream that plays `speed` times as fast, from 0.25 to 4. What was heard at `t` seconds is heard at
 * `stretchedTime(t, speed)`, give or take 15 ms, or 80 at the slowest speed.
 * @throws AppError `invalid_request` for another speed.
 */
export async function createTimeStretch(sampleRate: number, speed: number): Promise<SampleStream> {
  if (!(speed >= slowestSpeed && speed <= fastestSpeed)) {
    throw new AppError(
      "invalid_request",
      `speed is ${String(speed)}; it must be from ${String(slowestSpeed)} to ${String(fastestSpeed)}.`,
      { param: "speed" },
    );
  }
  if (speed === 1) return passThrough();
  loaded ??= loadSonic();
  return startStream(await loaded, sampleRate, speed);
}

/** The new time, in any unit, of what was at `time` before. */
export function stretchedTime(time: number, speed: number): number {
  return time / speed;
}

function startStream(sonic: Sonic, sampleRate: number, speed: number): SampleStream {
  // Sonic's output depends on how its input is cut: it always gets blocks of one length.
  const blockLength = Math.ceil(sampleRate * blockSeconds);
  const buffer = sonic._malloc(4 * blockLength);
  const stretcher = sonic._sonicCreateStream(sampleRate, 1);
  if (stretcher === 0 || buffer === 0) throw outOfMemory();
  const held = (heldPeriods * sampleRate) / lowestPitch;

  let waiting: Float32Array = new Float32Array(0);
  let taken = 0;
  let given = 0;
  const read = (): Float32Array[] => {
    const collected: Float32Array[] = [];
    for (;;) {
      const length = sonic._sonicReadFloatFromStream(stretcher, buffer, blockLength);
      if (length <= 0) return collected;
      given += length;
      collected.push(sonic.HEAPF32.slice(buffer / 4, buffer / 4 + length));
    }
  };
  const writeBlock = (block: Float32Array): void => {
    const ahead = given - Math.max(0, taken - held) / speed;
    const correction = (ahead * speed) / (correctionSeconds * sampleRate);
    const bounded = Math.min(correctionLimit, Math.max(-correctionLimit, correction));
    sonic._sonicSetSpeed(stretcher, speed * (1 + bounded));
    sonic.HEAPF32.set(block, buffer / 4);
    if (sonic._sonicWriteFloatToStream(stretcher, buffer, block.length) === 0) throw outOfMemory();
    taken += block.length;
  };

  const stream: SampleStream = {
    push(samples) {
      waiting = joinSamples([waiting, samples]);
      const collected: Float32Array[] = [];
      let start = 0;
      for (; start + blockLength <= waiting.length; start += blockLength) {
        writeBlock(waiting.subarray(start, start + blockLength));
        collected.push(...read());
      }
      waiting = waiting.slice(start);
      return joinSamples(collected);
    },
    end() {
      const before = given;
      if (waiting.length > 0) writeBlock(waiting);
      sonic._sonicFlushStream(stretcher);
      const rest = joinSamples(read());
      native.free();
      const output = new Float32Array(Math.max(0, Math.round(taken / speed) - before));
      output.set(rest.subarray(0, output.length));
      return output;
    },
  };
  const native = ownNativeObject(stream, stretcher, (pointer) => {
    sonic._sonicDestroyStream(pointer);
    sonic._free(buffer);
  });
  return stream;
}

function outOfMemory(): AppError {
  return new AppError("overloaded", "There is not enough memory to change the speed of the speech. Retry later.");
}

/** Whole samples at once. Failures are those of `createTimeStretch`. */
export async function stretchSamples(
  samples: Float32Array<ArrayBuffer>,
  sampleRate: number,
  speed: number,
): Promise<Float32Array<ArrayBuffer>> {
  if (speed === 1 || samples.length === 0) return samples;
  const stretch = await createTimeStretch(sampleRate, speed);
  return joinSamples([stretch.push(samples), stretch.end()]);
}

/**
 * Changes the sample rate of a stream with the resampler of SpeexDSP (quality 7 of 10) as WebAssembly.
 * https://www.speex.org/docs/manual/speex-manual/node7.html
 */
import loadSpeexResampler from "@echogarden/speex-resampler-wasm/simd";

import { AppError } from "../errors.ts";
import { passThrough, type SampleStream } from "./sample-stream.ts";
import { joinSamples } from "./samples.ts";
import { ownNativeObject } from "./webassembly-memory.ts";

const quality = 7;
/** Samples that one call into WebAssembly takes. */
const blockLength = 4096;
const lowestRate = 100;
const highestRate = 1_000_000;

type Speex = Awaited<ReturnType<typeof loadSpeexResampler>>;
let loaded: Promise<Speex> | undefined;

/**
 * A resampler without delay: the first sample out is the first sample in, and `n` samples in give
 * `round(n × toRate / fromRate)` out. Equal rates pass through.
 * @throws AppError `invalid_request` for rates that are no integers from 100 to 1 000 000 Hz.
 */
export async function createResampler(fromRate: number, toRate: number): Promise<SampleStream> {
  for (const rate of [fromRate, toRate]) {
    if (!Number.isInteger(rate) || rate < lowestRate || rate > highestRate) {
      throw new AppError(
        "invalid_request",
        `The sample rate is ${String(rate)}; it must be a whole number from ${String(lowestRate)} to ${String(highestRate)} Hz.`,
        { param: "sample_rate" },
      );
    }
  }
  if (fromRate === toRate) return passThrough();
  loaded ??= loadSpeexResampler();
  return startStream(await loaded, fromRate, toRate);
}

function startStream(speex: Speex, fromRate: number, toRate: number): SampleStream {
  const outputCapacity = Math.ceil((blockLength * toRate) / fromRate) + 64;
  // One allocation: two lengths (input, output), the input block, the output block.
  const buffers = speex._malloc(8 + 4 * (blockLength + outputCapacity));
  const state = speex._speex_resampler_init(1, fromRate, toRate, quality, buffers);
  if (buffers === 0 || state === 0) {
    throw new AppError("overloaded", "There is not enough memory to resample audio. Retry later.");
  }
  speex._speex_resampler_skip_zeros(state);
  const latency = speex._speex_resampler_get_input_latency(state);

  const inputAt = buffers + 8;
  const outputAt = inputAt + 4 * blockLength;
  const convertBlock = (block: Float32Array, collected: Float32Array[]): void => {
    let done = 0;
    while (done < block.length) {
      speex.HEAPF32.set(block.subarray(done), inputAt / 4);
      speex.HEAP32[buffers / 4] = block.length - done;
      speex.HEAP32[buffers / 4 + 1] = outputCapacity;
      speex._speex_resampler_process_float(state, 0, inputAt, buffers, outputAt, buffers + 4);
      const consumed = speex.HEAP32[buffers / 4] ?? 0;
      const produced = speex.HEAP32[buffers / 4 + 1] ?? 0;
      collected.push(speex.HEAPF32.slice(outputAt / 4, outputAt / 4 + produced));
      if (consumed === 0 && produced === 0) break;
      done += consumed;
    }
  };
  const convert = (samples: Float32Array): Float32Array[] => {
    const collected: Float32Array[] = [];
    for (let start = 0; start < samples.length; start += blockLength) {
      convertBlock(samples.subarray(start, start + blockLength), collected);
    }
    return collected;
  };

  let taken = 0;
  let given = 0;
  const stream: SampleStream = {
    push(samples) {
      taken += samples.length;
      const output = joinSamples(convert(samples));
      given += output.length;
      return output;
    },
    end() {
      const missing = Math.max(0, Math.round((taken * toRate) / fromRate) - given);
      const tail = convert(new Float32Array(latency + Math.ceil(fromRate / toRate) + 1));
      native.free();
      const output = new Float32Array(missing);
      output.set(joinSamples(tail).subarray(0, missing));
      return output;
    },
  };
  const native = ownNativeObject(stream, state, (pointer) => {
    speex._speex_resampler_destroy(pointer);
    speex._free(buffers);
  });
  return stream;
}

/**
 * Sound to mel-frequency cepstra, as the US English model was trained on them (its `feat.params`): frames of 25.6 ms
 * each 10 ms, 25 mel bands from 130 to 6 800 Hz, noise suppression on the bands, 13 liftered coefficients of a DCT.
 *
 * PocketSphinx can do that itself, but then it subtracts the mean of the audio so far, which spoils the first
 * seconds of every recording, or needs the whole utterance at once, which can be neither monitored nor stopped.
 *
 * The method is that of sphinxbase (BSD license): https://github.com/cmusphinx/sphinxbase/tree/master/src/libsphinxbase/fe
 */
import { createNoiseSuppression } from "./noise-suppression.ts";

export const coefficients = 13;
export const frameMs = 10;

const sampleRate = 16_000;
const frameShift = 160;
const frameLength = 410;
const fftLength = 512;
const bands = 25;
const lowestHz = 130;
const highestHz = 6_800;
const preEmphasis = 0.97;
const lifter = 22;
const powerFloor = 1e-4;

export interface MelCepstrum {
  /** Takes the next samples and returns the complete frames. */
  push(samples: Int16Array): Float32Array[];
  /** Gives the last frame, filled up with silence. */
  end(): Float32Array[];
}

/** One utterance's front end. */
export function createMelCepstrum(): MelCepstrum {
  const suppressNoise = createNoiseSuppression(bands);
  const windowed = new Float64Array(fftLength);
  const spectrum = new Float64Array(fftLength / 2 + 1);
  let waiting = new Int16Array(0);
  /** The sample before the first of `waiting`. */
  let previous = 0;

  const frameAt = (start: number): Float32Array => {
    for (let index = 0; index < frameLength; index += 1) {
      const sample = waiting[start + index] ?? 0;
      const before = start + index === 0 ? previous : (waiting[start + index - 1] ?? 0);
      windowed[index] = start + index < waiting.length ? (sample - preEmphasis * before) * hamming[index]! : 0;
    }
    powerSpectrum(windowed, spectrum);
    return toCepstrum(suppressNoise(toBands(spectrum)));
  };
  const advance = (start: number): void => {
    if (start === 0) return;
    previous = waiting[start - 1] ?? 0;
    waiting = waiting.slice(start);
  };

  return {
    push(samples) {
      const joined = new Int16Array(waiting.length + samples.length);
      joined.set(waiting);
      joined.set(samples, waiting.length);
      waiting = joined;
      const frames: Float32Array[] = [];
      let start = 0;
      for (; start + frameLength <= waiting.length; start += frameShift) frames.push(frameAt(start));
      advance(start);
      return frames;
    },
    end() {
      const frames = waiting.length === 0 ? [] : [frameAt(0)];
      waiting = new Int16Array(0);
      return frames;
    },
  };
}

const hamming = Float64Array.from(
  { length: frameLength },
  (_, index) => 0.54 - 0.46 * Math.cos((2 * Math.PI * index) / (frameLength - 1)),
);

interface Band {
  /** First point of the spectrum. */
  readonly start: number;
  readonly weights: Float64Array;
}

const toMel = (hertz: number): number => 2595 * Math.log10(1 + hertz / 700);
const toHertz = (mel: number): number => 700 * (10 ** (mel / 2595) - 1);

/** Triangles of unit area, their corners rounded to points of the spectrum. */
const melBands: readonly Band[] = Array.from({ length: bands }, (_, band) => {
  const pointHz = sampleRate / fftLength;
  const width = (toMel(highestHz) - toMel(lowestHz)) / (bands + 1);
  const corner = (index: number): number => {
    const hertz = toHertz(toMel(lowestHz) + (band + index) * width);
    return Math.floor(hertz / pointHz + 0.5) * pointHz;
  };
  const [left, middle, right] = [corner(0), corner(1), corner(2)];
  const start = left / pointHz;
  const weights = Float64Array.from({ length: right / pointHz - start + 1 }, (_, index) => {
    const hertz = (start + index) * pointHz;
    const height = Math.min((hertz - left) / (middle - left), (right - hertz) / (right - middle));
    return (height * 2) / (right - left);
  });
  return { start, weights };
});

function toBands(spectrum: Float64Array): Float64Array {
  return Float64Array.from(melBands, ({ start, weights }) => {
    let sum = 0;
    for (let index = 0; index < weights.length; index += 1) sum += weights[index]! * spectrum[start + index]!;
    return sum;
  });
}

/** A unitary DCT-II with its lifter. */
const cosines: readonly Float64Array[] = Array.from({ length: coefficients }, (_, row) => {
  const scale = Math.sqrt((row === 0 ? 1 : 2) / bands) * (1 + (lifter / 2) * Math.sin((row * Math.PI) / lifter));
  return Float64Array.from({ length: bands }, (_, band) => scale * Math.cos((Math.PI / bands) * row * (band + 0.5)));
});

function toCepstrum(powers: Float64Array): Float32Array {
  const logs = powers.map((power) => Math.log(power + powerFloor));
  return Float32Array.from(cosines, (row) => {
    let sum = 0;
    for (let band = 0; band < bands; band += 1) sum += row[band]! * logs[band]!;
    return sum;
  });
}

const twiddles = Array.from({ length: fftLength / 2 }, (_, index) => (2 * Math.PI * index) / fftLength);
const cosine = Float64Array.from(twiddles, Math.cos);
const sine = Float64Array.from(twiddles, (angle) => -Math.sin(angle));
const bitReversed = new Uint16Array(fftLength);
for (let index = 1; index < fftLength; index += 1) {
  bitReversed[index] = bitReversed[index >> 1]! / 2 + (index % 2) * (fftLength / 2);
}
const real = new Float64Array(fftLength);
const imaginary = new Float64Array(fftLength);

/** Squared magnitudes of the discrete Fourier transform, by Cooley and Tukey's way with radix 2. */
function powerSpectrum(input: Float64Array, output: Float64Array): void {
  for (let index = 0; index < fftLength; index += 1) real[bitReversed[index]!] = input[index]!;
  imaginary.fill(0);
  for (let size = 2; size <= fftLength; size *= 2) {
    const half = size / 2;
    const step = fftLength / size;
    for (let start = 0; start < fftLength; start += size) {
      for (let index = 0; index < half; index += 1) {
        const [upper, lower] = [start + index, start + index + half];
        const [c, s] = [cosine[index * step]!, sine[index * step]!];
        const re = real[lower]! * c - imaginary[lower]! * s;
        const im = real[lower]! * s + imaginary[lower]! * c;
        real[lower] = real[upper]! - re;
        imaginary[lower] = imaginary[upper]! - im;
        real[upper] = real[upper]! + re;
        imaginary[upper] = imaginary[upper]! + im;
      }
    }
  }
  for (let index = 0; index < output.length; index += 1) {
    output[index] = real[index]! ** 2 + imaginary[index]! ** 2;
  }
}

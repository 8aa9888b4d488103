/** Measures the loudness of mono samples as ITU-R BS.1770-4 defines it. https://www.itu.int/rec/R-REC-BS.1770 */

interface Biquad {
  readonly b: readonly [number, number, number];
  readonly a: readonly [number, number];
}

const blockSeconds = 0.4;
/** Each block begins a quarter of a block after the one before. */
const stepsPerBlock = 4;
const absoluteGate = -70;
/** Relative to the loudness of everything above the absolute gate. */
const relativeGate = -10;

/** The integrated loudness in LUFS; −Infinity for silence. Audio shorter than a block is measured as one block. */
export function loudnessOf(samples: Float32Array, sampleRate: number): number {
  const energies = stepEnergies(samples, sampleRate);
  const blocks: number[] = [];
  for (let end = Math.min(stepsPerBlock, energies.length); end <= energies.length; end++) {
    const steps = energies.slice(Math.max(0, end - stepsPerBlock), end);
    blocks.push(mean(steps));
  }
  const audible = blocks.filter((energy) => toLoudness(energy) > absoluteGate);
  const gate = toLoudness(mean(audible)) + relativeGate;
  return toLoudness(mean(audible.filter((energy) => toLoudness(energy) > gate)));
}

/** The mean square of the weighted samples of each step; what follows the last whole step does not count. */
function stepEnergies(samples: Float32Array, sampleRate: number): number[] {
  const size = Math.round((sampleRate * blockSeconds) / stepsPerBlock);
  const filters = [highShelf(sampleRate), highPass(sampleRate)].map(createFilter);
  const energies: number[] = [];
  let sum = 0;
  for (const [index, sample] of samples.entries()) {
    const weighted = filters.reduce((value, filter) => filter(value), sample);
    sum += weighted * weighted;
    if ((index + 1) % size !== 0) continue;
    energies.push(sum / size);
    sum = 0;
  }
  return energies.length > 0 ? energies : [sum / Math.max(1, samples.length)];
}

function createFilter({ a, b }: Biquad): (sample: number) => number {
  let [first, second] = [0, 0];
  return (sample) => {
    const output = b[0] * sample + first;
    first = b[1] * sample - a[0] * output + second;
    second = b[2] * sample - a[1] * output;
    return output;
  };
}

/** The standard's first filter, which models the head, at any sample rate. */
function highShelf(sampleRate: number): Biquad {
  const k = Math.tan((Math.PI * 1681.974450955533) / sampleRate);
  const q = 0.7071752369554196;
  const high = 10 ** (3.999843853973347 / 20);
  const middle = high ** 0.4996667741545416;
  const norm = 1 + k / q + k * k;
  return {
    b: [
      (high + (middle * k) / q + k * k) / norm,
      (2 * (k * k - high)) / norm,
      (high - (middle * k) / q + k * k) / norm,
    ],
    a: [(2 * (k * k - 1)) / norm, (1 - k / q + k * k) / norm],
  };
}

/** The standard's second filter. */
function highPass(sampleRate: number): Biquad {
  const k = Math.tan((Math.PI * 38.13547087602444) / sampleRate);
  const q = 0.5003270373238773;
  const norm = 1 + k / q + k * k;
  return { b: [1, -2, 1], a: [(2 * (k * k - 1)) / norm, (1 - k / q + k * k) / norm] };
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function toLoudness(energy: number): number {
  return -0.691 + 10 * Math.log10(energy);
}

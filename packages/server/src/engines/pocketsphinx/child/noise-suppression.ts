/**
 * Removes stationary noise from mel bands, as it was removed from the model's training data: the lower envelope of a band's
 * smoothed power is its noise. The method and its constants are those of sphinxbase's `fe_noise.c` (BSD license), after
 * G. Doblinger, "Computationally efficient speech enhancement by spectral minima tracking in subbands" (1995), and
 * C. Kim and R. Stern, "Power-normalized cepstral coefficients for robust speech recognition" (2012).
 */

/** Weight of the past in a band's smoothed power. */
const powerMemory = 0.7;
/** How slowly an envelope rises, and falls. */
const riseMemory = 0.995;
const fallMemory = 0.5;
/** How a louder sound just before masks a band. */
const peakMemory = 0.85;
const maskedShare = 0.2;
const largestGain = 20;
/** Bands on each side over which gains are smoothed. */
const smoothedBands = 4;

/** Returns a function that takes the band powers of one frame after another and returns them without the noise. */
export function createNoiseSuppression(bands: number): (powers: Float64Array) => Float64Array {
  const power = new Float64Array(bands);
  const noise = new Float64Array(bands);
  const floor = new Float64Array(bands);
  const peak = new Float64Array(bands);
  const gains = new Float64Array(bands);
  let first = true;

  const begin = (powers: Float64Array): void => {
    for (let band = 0; band < bands; band += 1) {
      power[band] = powers[band]!;
      noise[band] = powers[band]! / largestGain;
      floor[band] = powers[band]! / largestGain;
    }
  };
  const gainOf = (band: number, now: number): number => {
    power[band] = powerMemory * power[band]! + (1 - powerMemory) * now;
    noise[band] = lowerEnvelope(noise[band]!, power[band]);
    const signal = Math.max(1, power[band] - noise[band]);
    floor[band] = lowerEnvelope(floor[band]!, signal);
    const faded = peakMemory * peak[band]!;
    peak[band] = Math.max(faded, signal);
    const unmasked = signal < peakMemory * faded ? faded * maskedShare : signal;
    const gain = Math.max(unmasked, floor[band]) / power[band];
    return Math.min(Math.max(gain, 1 / largestGain), largestGain);
  };

  return (powers) => {
    if (first) begin(powers);
    first = false;
    for (let band = 0; band < bands; band += 1) gains[band] = gainOf(band, powers[band]!);
    return powers.map((value, band) => value * meanAround(gains, band));
  };
}

function lowerEnvelope(envelope: number, value: number): number {
  const memory = value >= envelope ? riseMemory : fallMemory;
  return memory * envelope + (1 - memory) * value;
}

function meanAround(gains: Float64Array, band: number): number {
  const from = Math.max(0, band - smoothedBands);
  const to = Math.min(gains.length - 1, band + smoothedBands);
  let sum = 0;
  for (let index = from; index <= to; index += 1) sum += gains[index]!;
  return sum / (to - from + 1);
}

/**
 * Synthetic sounds, and measurements of sounds.
 */

/** A sine of `frequency` Hz at half of full scale. */
export function sine(frequency: number, sampleRate: number, seconds: number): Float32Array {
  return Float32Array.from(
    { length: Math.round(sampleRate * seconds) },
    (_, index) => 0.5 * Math.sin((2 * Math.PI * frequency * index) / sampleRate),
  );
}

/** A tone that rises from 200 to 2 000 Hz within `seconds`, at half of full scale: every moment of it sounds different. */
export function chirp(sampleRate: number, seconds: number): Float32Array {
  return Float32Array.from({ length: Math.round(sampleRate * seconds) }, (_, index) =>
    chirpAt(index / sampleRate, seconds),
  );
}

/** The value of that tone at a time; silence outside. */
export function chirpAt(time: number, seconds: number): number {
  if (time < 0 || time > seconds) return 0;
  return 0.5 * Math.sin(2 * Math.PI * (200 * time + (900 * time * time) / seconds));
}

/** The same noise for the same seed, even over ±`level`. */
export function noise(length: number, level: number, seed = 1): Float32Array {
  let state = seed;
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state / 2 ** 31 - 1) * level;
  });
}

/** The strength of `frequency` in the samples, in dB relative to a sine of full scale, through a Blackman window. */
export function levelAt(samples: Float32Array, frequency: number, sampleRate: number): number {
  let real = 0;
  let imaginary = 0;
  for (const [index, sample] of samples.entries()) {
    const position = (2 * Math.PI * index) / samples.length;
    const window = 0.42 - 0.5 * Math.cos(position) + 0.08 * Math.cos(2 * position);
    const angle = (2 * Math.PI * frequency * index) / sampleRate;
    real += sample * window * Math.cos(angle);
    imaginary -= sample * window * Math.sin(angle);
  }
  return 20 * Math.log10(Math.hypot(real, imaginary) / (samples.length * 0.21) + 1e-12);
}

/** The root mean square. */
export function loudness(samples: Float32Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, samples.length));
}

/** Splits samples into pieces of the given lengths, repeatedly. */
export function cut<Piece extends Float32Array | Uint8Array>(whole: Piece, lengths: readonly number[]): Piece[] {
  const pieces: Piece[] = [];
  for (let position = 0, turn = 0; position < whole.length; turn += 1) {
    const length = lengths[turn % lengths.length] ?? 1;
    pieces.push(whole.subarray(position, position + length) as Piece);
    position += length;
  }
  return pieces;
}

/** By how many samples `heard` lags behind the chirp that was played, from -1 500 to 1 500. */
export function chirpLag(heard: Float32Array, sampleRate: number, seconds: number): number {
  const most = 1_500;
  const end = Math.min(heard.length, 12_000);
  // Ten million sines if each lag computed its own.
  const played = Float64Array.from({ length: end + 2 * most }, (_, at) => chirpAt((at - most) / sampleRate, seconds));
  let best = -Infinity;
  let bestLag = 0;
  for (let lag = -most; lag <= most; lag += 1) {
    let likeness = 0;
    for (let index = 2000; index < end; index += 3) likeness += heard[index]! * played[index - lag + most]!;
    if (likeness > best) {
      best = likeness;
      bestLag = lag;
    }
  }
  return bestLag;
}

/** A voice-like sound: pulses of a varying pitch through three resonances, four syllables per second. */
export function voice(sampleRate: number, seconds: number): Float32Array {
  let phase = 0;
  const resonances = [500, 1500, 2500].map((frequency) => {
    const radius = Math.exp((-Math.PI * 80) / sampleRate);
    return {
      along: 2 * radius * Math.cos((2 * Math.PI * frequency) / sampleRate),
      back: -(radius ** 2),
      one: 0,
      two: 0,
    };
  });
  return Float32Array.from({ length: Math.round(sampleRate * seconds) }, (_, index) => {
    const time = index / sampleRate;
    phase += (120 + 25 * Math.sin(time * 5)) / sampleRate;
    const pulse = phase >= 1 ? 1 : 0;
    phase %= 1;
    const syllable =
      Math.max(0, Math.sin(2 * Math.PI * 2 * time)) ** 0.5 +
      Math.max(0, Math.sin(2 * Math.PI * 2 * (time - 0.25))) ** 2;
    const sum = resonances.reduce((total, resonance) => {
      const value = pulse * syllable + resonance.along * resonance.one + resonance.back * resonance.two;
      resonance.two = resonance.one;
      resonance.one = value;
      return total + value;
    }, 0);
    return 0.06 * sum;
  });
}

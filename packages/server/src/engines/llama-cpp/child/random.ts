/** Generates seeded random numbers with xoshiro128** (https://prng.di.unimi.it/), seeded by SplitMix32. */

export type Random = () => number;

function splitMix(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
}

const rotate = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits));

/** Numbers from 0 (inclusive) to 1 (exclusive), the same for the same safe integer `seed` and `stream`. */
export function createRandom(seed: number, stream: number): Random {
  const low = splitMix(seed % 2 ** 32);
  const high = splitMix(Math.floor(seed / 2 ** 32) ^ Math.imul(stream + 1, 0x85ebca6b));
  const state = Uint32Array.of(low() ^ high(), low() ^ high(), low() ^ high(), low() ^ high() ^ 1);
  const next = (): number => {
    const result = Math.imul(rotate(Math.imul(state[1]!, 5), 7), 9) >>> 0;
    const shifted = state[1]! << 9;
    state[2]! ^= state[0]!;
    state[3]! ^= state[1]!;
    state[1]! ^= state[2]!;
    state[0]! ^= state[3]!;
    state[2]! ^= shifted;
    state[3] = rotate(state[3]!, 11);
    return result;
  };
  return () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53;
}

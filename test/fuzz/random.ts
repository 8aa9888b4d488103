/** One seeded source of randomness: the same seed and labels give the same values on every machine. */

const dayMs = 86_400_000;
/** The beginning of the day (UTC), for times in inputs: within one day the same seed gives the same bytes. */
export const presentMs = Math.floor(Date.now() / dayMs) * dayMs;

/** Mixes text into 32 bits (FNV-1a with a final avalanche). */
function hash(text: string): number {
  let state = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) state = Math.imul(state ^ text.charCodeAt(index), 0x01000193);
  state = Math.imul(state ^ (state >>> 15), 0x85ebca6b);
  return (state ^ (state >>> 13)) >>> 0;
}

export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** @param labels what the values are for; each list of labels has its own sequence */
  constructor(seed: number, ...labels: (string | number)[]) {
    this.#a = seed >>> 0;
    this.#b = hash(labels.join("\0"));
    this.#c = hash(`${seed} ${labels.join(" ")}`);
    for (let round = 0; round < 12; round += 1) this.uint32();
  }

  /** sfc32: https://pracrand.sourceforge.net/RNG_engines.txt */
  uint32(): number {
    const sum = (this.#a + this.#b + this.#counter) >>> 0;
    this.#counter = (this.#counter + 1) >>> 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) >>> 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) >>> 0;
    return sum;
  }

  /** An integer from 0 to `limit` - 1. */
  below(limit: number): number {
    return Math.floor((this.uint32() / 2 ** 32) * limit);
  }

  /** An integer from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  chance(probability: number): boolean {
    return this.uint32() < probability * 2 ** 32;
  }

  /** From 0 to `most`, small numbers far more often than large ones. */
  size(most: number): number {
    return Math.floor((most + 1) ** (this.uint32() / 2 ** 32)) - 1;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  bytes(length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    for (let index = 0; index < length; index += 1) bytes[index] = this.uint32();
    return bytes;
  }
}

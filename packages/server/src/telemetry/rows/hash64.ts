/**
 * Computes a 64-bit hash of bytes and numbers, for the identity of resources, scopes, series and log records. It mixes like
 * MurmurHash3 with two lanes of 32 bits. It does not resist chosen collisions and need not, because identities are only
 * compared within one organization. https://github.com/aappleby/smhasher/wiki/MurmurHash3
 */
const words = new Uint32Array(2);
const wordBytes = new Uint8Array(words.buffer);
const whole = new BigUint64Array(words.buffer);

export class Hash64 {
  low = 0;
  high = 0;
  #length = 0;

  reset(): this {
    this.low = 0x9747_b28c | 0;
    this.high = 0x3c6e_f372;
    this.#length = 0;
    return this;
  }

  /** Two words of 32 bits. */
  add(first: number, second: number): this {
    let low = this.low;
    let high = this.high;
    let mixed = Math.imul(first, 0x239b_961b);
    mixed = Math.imul((mixed << 15) | (mixed >>> 17), 0xab0e_9789);
    low ^= mixed;
    low = (((low << 19) | (low >>> 13)) + high) | 0;
    low = (Math.imul(low, 5) + 0x561c_cd1b) | 0;
    mixed = Math.imul(second, 0xab0e_9789);
    mixed = Math.imul((mixed << 16) | (mixed >>> 16), 0x38b3_4ae5);
    high ^= mixed;
    high = (((high << 17) | (high >>> 15)) + low) | 0;
    high = (Math.imul(high, 5) + 0x0bca_a747) | 0;
    this.low = low;
    this.high = high;
    this.#length += 8;
    return this;
  }

  /** Adds the bytes and their number, so that adjacent values cannot be confused. */
  addBytes(bytes: Uint8Array, start: number, end: number): this {
    let at = start;
    for (; at + 8 <= end; at += 8) {
      this.add(
        bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24),
        bytes[at + 4]! | (bytes[at + 5]! << 8) | (bytes[at + 6]! << 16) | (bytes[at + 7]! << 24),
      );
    }
    let first = 0;
    let second = 0;
    for (let shift = 0; at < end; at += 1, shift += 8) {
      if (shift < 32) first |= bytes[at]! << shift;
      else second |= bytes[at]! << (shift - 32);
    }
    return this.add(first, second).add(end - start, 0);
  }

  addText(text: string): this {
    const bytes = Buffer.from(text, "utf8");
    return this.addBytes(bytes, 0, bytes.length);
  }

  finish(): this {
    let low = this.low ^ this.#length;
    let high = this.high ^ this.#length;
    low = (low + high) | 0;
    high = (high + low) | 0;
    low = avalanche(low);
    high = avalanche(high);
    low = (low + high) | 0;
    high = (high + low) | 0;
    this.low = low;
    this.high = high;
    return this;
  }

  /** The eight bytes, little-endian. Valid until the next call on any hash. */
  bytes(): Uint8Array {
    words[0] = this.low;
    words[1] = this.high;
    return wordBytes;
  }

  toBigInt(): bigint {
    words[0] = this.low;
    words[1] = this.high;
    return whole[0]!;
  }
}

function avalanche(value: number): number {
  let mixed = value;
  mixed ^= mixed >>> 16;
  mixed = Math.imul(mixed, 0x85eb_ca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2_ae35);
  return mixed ^ (mixed >>> 16);
}

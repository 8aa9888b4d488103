/** Reads numbers of the protobuf encoding. https://protobuf.dev/programming-guides/encoding/#signed-ints */
const words = new Uint32Array(2);
const wordBytes = new Uint8Array(words.buffer);
const double = new Float64Array(words.buffer);
const signed = new BigInt64Array(words.buffer);
const unsigned = new BigUint64Array(words.buffer);

/** Reads a varint's lower and upper 32 bits into `words`. The varint must be complete. */
function readVarint(bytes: Uint8Array, at: number): void {
  let low = 0;
  let high = 0;
  for (let index = 0; index < 10; index += 1) {
    const byte = bytes[at + index]!;
    const bits = byte & 0x7f;
    if (index < 4) low |= bits << (7 * index);
    else if (index === 4) {
      low |= bits << 28;
      high |= bits >> 4;
    } else high |= bits << (7 * index - 32);
    if (byte < 0x80) break;
  }
  words[0] = low;
  words[1] = high;
}

function readFixed(bytes: Uint8Array, at: number): void {
  for (let index = 0; index < 8; index += 1) wordBytes[index] = bytes[at + index]!;
}

/** The lower 32 bits of a varint, unsigned, as protobuf truncates an oversized uint32. */
export function uint32At(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!;
  if (first < 0x80) return first;
  readVarint(bytes, at);
  return words[0]!;
}

/** A zigzag-encoded signed number. */
export function sint32At(bytes: Uint8Array, at: number): number {
  const value = uint32At(bytes, at);
  return (value >>> 1) ^ -(value & 1);
}

/** An int64 as decimal text. */
export function int64TextAt(bytes: Uint8Array, at: number): string {
  readVarint(bytes, at);
  const high = words[1]! | 0;
  if (high >= -0x20_0000 && high < 0x20_0000) return String(high * 0x1_0000_0000 + words[0]!);
  return String(signed[0]);
}

/** An int64 as a number, which is exact below 2^53. */
export function int64At(bytes: Uint8Array, at: number): number {
  readVarint(bytes, at);
  return (words[1]! | 0) * 0x1_0000_0000 + words[0]!;
}

export function uint64At(bytes: Uint8Array, at: number): bigint {
  readVarint(bytes, at);
  return unsigned[0]!;
}

export function boolAt(bytes: Uint8Array, at: number): boolean {
  readVarint(bytes, at);
  return words[0] !== 0 || words[1] !== 0;
}

export function doubleAt(bytes: Uint8Array, at: number): number {
  readFixed(bytes, at);
  return double[0]!;
}

export function sfixed64At(bytes: Uint8Array, at: number): number {
  readFixed(bytes, at);
  return (words[1]! | 0) * 0x1_0000_0000 + words[0]!;
}

export function fixed32At(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
}

/** A fixed64 as a number, to compare times; exact to about 256 ns. */
export function fixed64At(bytes: Uint8Array, at: number): number {
  return fixed32At(bytes, at + 4) * 0x1_0000_0000 + fixed32At(bytes, at);
}

/** A double in JSON's notation, plus NaN, Infinity, -Infinity and -0, which JSON lacks. */
export function doubleText(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

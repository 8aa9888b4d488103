/** Converts and joins mono samples: floats with full scale at -1 and 1, and their 16-bit form. */

/** The values as signed 16-bit integers, clipped at full scale. 16-bit input divided by 32,768 is restored exactly. */
export function toInt16(samples: Float32Array): Int16Array<ArrayBuffer> {
  const integers = new Int16Array(samples.length);
  for (let index = 0; index < samples.length; index += 1) {
    const scaled = Math.round((samples[index] ?? 0) * 32_768);
    integers[index] = scaled > 32_767 ? 32_767 : Math.max(scaled, -32_768);
  }
  return integers;
}

/** The values as signed 16-bit little-endian bytes. */
export function toInt16Bytes(samples: Float32Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(samples.length * 2);
  const view = new DataView(bytes.buffer);
  const integers = toInt16(samples);
  for (let index = 0; index < integers.length; index += 1) {
    view.setInt16(index * 2, integers[index] ?? 0, true);
  }
  return bytes;
}

/** Samples from signed 16-bit little-endian bytes; half a value at the end is dropped. */
export function fromInt16Bytes(bytes: Buffer): Float32Array<ArrayBuffer> {
  const samples = new Float32Array(Math.floor(bytes.length / 2));
  for (let index = 0; index < samples.length; index += 1) samples[index] = bytes.readInt16LE(2 * index) / 32_768;
  return samples;
}

/** Joins pieces of samples. */
export function joinSamples(pieces: readonly Float32Array[]): Float32Array<ArrayBuffer> {
  const joined = new Float32Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let position = 0;
  for (const piece of pieces) {
    joined.set(piece, position);
    position += piece.length;
  }
  return joined;
}

/** Joins pieces of bytes. */
export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let position = 0;
  for (const piece of pieces) {
    joined.set(piece, position);
    position += piece.length;
  }
  return joined;
}

/** Splits bytes into chunks of one size; pure. */
import { ConfigurationError } from "./errors.ts";
import type { Transform } from "./mode.ts";

/** Throws ConfigurationError unless it is an integer of at least 1. */
export function checkedChunkSize(size: number): number {
  if (Number.isInteger(size) && size >= 1) return size;
  throw new ConfigurationError(`The chunk size is ${String(size)}; it must be at least 1 byte.`);
}

/** Bytes in chunks, for `for` and `for await`. */
export interface ChunkedBytes extends Iterable<Uint8Array>, AsyncIterable<Uint8Array> {}

/** Chunks of `size` bytes, the last one possibly shorter; they share the memory of `bytes`. */
export function chunksOf(bytes: Uint8Array, size: number): ChunkedBytes {
  function* chunks(): Generator<Uint8Array, void, void> {
    for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
  }
  return {
    [Symbol.iterator]: chunks,
    async *[Symbol.asyncIterator]() {
      yield* chunks();
    },
  };
}

/** Yields the input in chunks of `size` bytes, the last one possibly shorter. */
export function createChunker(size: number): Transform<Uint8Array, Uint8Array> {
  let chunk = new Uint8Array(size);
  let filled = 0;

  function* push(bytes: Uint8Array): Generator<Uint8Array, void, void> {
    for (let start = 0; start < bytes.length;) {
      const piece = bytes.subarray(start, start + size - filled);
      chunk.set(piece, filled);
      filled += piece.length;
      start += piece.length;
      if (filled < size) continue;
      yield chunk;
      chunk = new Uint8Array(size);
      filled = 0;
    }
  }

  return { push, end: () => (filled === 0 ? [] : [chunk.subarray(0, filled)]) };
}

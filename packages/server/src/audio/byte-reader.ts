/** Reads a stream of byte pieces by length without buffering the whole stream. */

export interface ByteReader {
  /** Bytes read or skipped so far. */
  readonly position: number;
  /** The next `length` bytes without taking them; fewer only at the end. */
  peek(length: number): Promise<Uint8Array>;
  /** The next `length` bytes; fewer only at the end. */
  read(length: number): Promise<Uint8Array>;
  /** Passes over `length` bytes, or to the end. */
  skip(length: number): Promise<void>;
  /** The bytes at hand, one or more up to `limit`; null at the end. */
  readSome(limit: number): Promise<Uint8Array | null>;
  /** Closes the source. */
  close(): Promise<void>;
}

export function createByteReader(source: AsyncIterable<Uint8Array>): ByteReader {
  const iterator = source[Symbol.asyncIterator]();
  let piece: Uint8Array = new Uint8Array(0);
  let position = 0;
  let ended = false;

  /** Fills the buffer if it is empty; false at the end. */
  const fill = async (): Promise<boolean> => {
    while (piece.length === 0 && !ended) {
      const next = await iterator.next();
      if (next.done === true) ended = true;
      else piece = next.value;
    }
    return piece.length > 0;
  };
  const take = (limit: number): Uint8Array => {
    const taken = piece.subarray(0, limit);
    piece = piece.subarray(taken.length);
    position += taken.length;
    return taken;
  };
  const read = async (length: number): Promise<Uint8Array> => {
    const collected: Uint8Array[] = [];
    let missing = length;
    while (missing > 0 && (await fill())) {
      const taken = take(missing);
      missing -= taken.length;
      collected.push(taken);
    }
    return collected.length === 1 && collected[0] !== undefined ? collected[0] : Buffer.concat(collected);
  };

  return {
    get position() {
      return position;
    },
    async peek(length) {
      const bytes = await read(length);
      position -= bytes.length;
      piece = Buffer.concat([bytes, piece]);
      return bytes;
    },
    read,
    async skip(length) {
      let missing = length;
      while (missing > 0 && (await fill())) missing -= take(missing).length;
    },
    readSome: async (limit) => ((await fill()) ? take(limit) : null),
    async close() {
      piece = new Uint8Array(0);
      if (!ended) await iterator.return?.();
      ended = true;
    },
  };
}

/**
 * Reads ClickHouse's Native format into typed arrays, for results with many numbers. Numbers are never converted to text, so
 * they stay exact, and a million of them take milliseconds. https://clickhouse.com/docs/interfaces/formats/Native
 */
import { StoreError } from "./store-error.ts";

/** Numbers of one column; 64-bit ones as BigInt. */
export type NumberColumn =
  | Uint8Array
  | Uint16Array
  | Uint32Array
  | Int32Array
  | Float64Array
  | BigUint64Array
  | BigInt64Array;

/** A column of lists: the list of row `i` is `items` from `ends[i - 1]` (0 for the first) to before `ends[i]`. */
export interface ListColumn {
  readonly ends: Float64Array;
  readonly items: NumberColumn | readonly string[];
}

export type ReadColumn = NumberColumn | readonly string[] | ListColumn;

/** Some of the result's rows, as columns by name. */
export interface ColumnBlock {
  readonly rowCount: number;
  readonly columns: ReadonlyMap<string, ReadColumn>;
}

const numberTypes = {
  UInt8: Uint8Array,
  UInt16: Uint16Array,
  UInt32: Uint32Array,
  Int32: Int32Array,
  Float64: Float64Array,
  UInt64: BigUint64Array,
  Int64: BigInt64Array,
} as const;

/** Buffers bytes as they arrive. Numbers are copied to their destination in pieces, so that no large copy blocks the thread. */
class NativeReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #chunk: Buffer = Buffer.alloc(0);
  #at = 0;

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#chunks = body[Symbol.asyncIterator]();
  }

  async isAtEnd(): Promise<boolean> {
    while (this.#at === this.#chunk.length) {
      const next = await this.#chunks.next();
      if (next.done === true) return true;
      this.#chunk = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.length);
      this.#at = 0;
    }
    return false;
  }

  async varint(): Promise<number> {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.#at < this.#chunk.length ? this.#chunk[this.#at++]! : (await this.#take(1))[0]!;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }

  async text(): Promise<string> {
    return (await this.#take(await this.varint())).toString("utf8");
  }

  async texts(count: number): Promise<string[]> {
    const texts: string[] = [];
    for (let row = 0; row < count; row += 1) texts.push(this.#textHere() ?? (await this.text()));
    return texts;
  }

  /** The next string if it is short, like nearly all, and has arrived completely. */
  #textHere(): string | undefined {
    const length = this.#chunk[this.#at];
    if (length === undefined || length >= 0x80 || this.#at + 1 + length > this.#chunk.length) return undefined;
    this.#at += 1 + length;
    return this.#chunk.toString("utf8", this.#at - length, this.#at);
  }

  /** Aligned, as typed arrays require. The format is little-endian, like every machine that we support. */
  async numbers(type: keyof typeof numberTypes, count: number): Promise<NumberColumn> {
    const column = new numberTypes[type](count);
    await this.#fill(new Uint8Array(column.buffer));
    return column;
  }

  async column(type: string, count: number): Promise<ReadColumn> {
    const item = /^Array\((?<item>.+)\)$/.exec(type)?.groups?.["item"];
    if (item === undefined) return this.#plain(type, count);
    const ends = Float64Array.from((await this.numbers("UInt64", count)) as BigUint64Array, Number);
    return { ends, items: await this.#plain(item, ends.at(-1) ?? 0) };
  }

  async #plain(type: string, count: number): Promise<NumberColumn | readonly string[]> {
    if (type.startsWith("DateTime64(")) return this.numbers("Int64", count);
    if (Object.hasOwn(numberTypes, type)) return this.numbers(type as keyof typeof numberTypes, count);
    if (count === 0 || type === "String") return this.texts(count);
    if (type === "LowCardinality(String)") return this.#labels(count);
    throw new TypeError(`Columns of type ${type} cannot be read as columns; convert them in the statement.`);
  }

  /** A dictionary of the block's strings, and each row's index in it. */
  async #labels(count: number): Promise<string[]> {
    await this.#take(8); // Version of the encoding: there is one.
    const width = (await this.#take(8))[0]!;
    const indexType = (["UInt8", "UInt16", "UInt32", "UInt64"] as const)[width]!;
    const texts = await this.texts(Number((await this.#take(8)).readBigUInt64LE()));
    await this.#take(8); // The row count, repeated.
    const places = await this.numbers(indexType, count);
    return Array.from({ length: count }, (_, row) => texts[Number(places[row])]!);
  }

  async #take(length: number): Promise<Buffer> {
    if (this.#at + length <= this.#chunk.length) {
      this.#at += length;
      return this.#chunk.subarray(this.#at - length, this.#at);
    }
    const taken = Buffer.alloc(length);
    await this.#fill(taken);
    return taken;
  }

  async #fill(target: Uint8Array): Promise<void> {
    for (let filled = 0; filled < target.length;) {
      if (await this.isAtEnd()) throw new StoreError("The store's response was truncated.");
      const piece = this.#chunk.subarray(this.#at, this.#at + target.length - filled);
      target.set(piece, filled);
      filled += piece.length;
      this.#at += piece.length;
    }
  }
}

/**
 * The blocks of a result. Types: integers of 8 to 64 bits, Float64, DateTime64 (as ticks), String, LowCardinality(String), and
 * arrays of all but the last.
 * @throws StoreError when the bytes end too early
 * @throws TypeError when the statement selects a column of another type
 */
export async function readBlocks(body: AsyncIterable<Uint8Array>): Promise<ColumnBlock[]> {
  const reader = new NativeReader(body);
  const blocks: ColumnBlock[] = [];
  while (!(await reader.isAtEnd())) {
    const columnCount = await reader.varint();
    const rowCount = await reader.varint();
    const columns = new Map<string, ReadColumn>();
    for (let index = 0; index < columnCount; index += 1) {
      const name = await reader.text();
      const type = await reader.text();
      columns.set(name, await reader.column(type, rowCount));
    }
    if (rowCount > 0) blocks.push({ rowCount, columns });
  }
  return blocks;
}

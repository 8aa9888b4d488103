/**
 * Reads ClickHouse's Native format into typed arrays, for answers with many numbers: no number passes through a text, so
 * every bit is kept and a million of them take milliseconds. https://clickhouse.com/docs/interfaces/formats/Native
 */
import { StoreError } from "./store-error.ts";

/** Numbers of one column; those of 64 bits as big integers. */
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

/** Some of the answer's rows, as columns by name. */
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

class NativeReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.#take(1)[0]!;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }

  text(): string {
    return this.#take(this.varint()).toString("utf8");
  }

  texts(count: number): string[] {
    return Array.from({ length: count }, () => this.text());
  }

  /** A copy, aligned as typed arrays must be. This machine is little-endian, as the format is. */
  numbers(type: keyof typeof numberTypes, count: number): NumberColumn {
    const constructor = numberTypes[type];
    const taken = this.#take(count * constructor.BYTES_PER_ELEMENT);
    return new constructor(taken.buffer.slice(taken.byteOffset, taken.byteOffset + taken.length) as ArrayBuffer);
  }

  column(type: string, count: number): ReadColumn {
    const item = /^Array\((?<item>.+)\)$/.exec(type)?.groups?.["item"];
    if (item === undefined) return this.#plain(type, count);
    const ends = Float64Array.from(this.numbers("UInt64", count) as BigUint64Array, Number);
    return { ends, items: this.#plain(item, ends.at(-1) ?? 0) };
  }

  #plain(type: string, count: number): NumberColumn | readonly string[] {
    if (count === 0 || type === "String") return this.texts(count);
    if (type === "LowCardinality(String)") return this.#labels(count);
    if (type.startsWith("DateTime64(")) return this.numbers("Int64", count);
    if (Object.hasOwn(numberTypes, type)) return this.numbers(type as keyof typeof numberTypes, count);
    throw new TypeError(`Columns of type ${type} cannot be read as columns; convert them in the statement.`);
  }

  /** A dictionary of this block's texts, and for each row its place in it. */
  #labels(count: number): string[] {
    this.#take(8); // Version of the encoding: there is one.
    const width = this.#take(8)[0]!;
    const indexType = (["UInt8", "UInt16", "UInt32", "UInt64"] as const)[width]!;
    const texts = this.texts(Number(this.#take(8).readBigUInt64LE()));
    this.#take(8); // The count once more.
    const places = this.numbers(indexType, count);
    return Array.from({ length: count }, (_, row) => texts[Number(places[row])]!);
  }

  #take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new StoreError("The store's answer was cut.");
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}

/**
 * The blocks of an answer. Types: integers of 8 to 64 bits, Float64, DateTime64 (its ticks), String, LowCardinality(String), and
 * lists of all but the last.
 * @throws StoreError when the bytes end too early
 * @throws TypeError when the statement selects a column of another type
 */
export function readBlocks(bytes: Buffer): ColumnBlock[] {
  const reader = new NativeReader(bytes);
  const blocks: ColumnBlock[] = [];
  while (!reader.isAtEnd) {
    const columnCount = reader.varint();
    const rowCount = reader.varint();
    const columns = new Map<string, ReadColumn>();
    for (let index = 0; index < columnCount; index += 1) {
      const name = reader.text();
      const type = reader.text();
      columns.set(name, reader.column(type, rowCount));
    }
    if (rowCount > 0) blocks.push({ rowCount, columns });
  }
  return blocks;
}

/**
 * Reads blocks of ClickHouse's Native format back into rows, independently of the code that writes them.
 * https://clickhouse.com/docs/interfaces/formats/Native
 */

export type BlockRow = Record<string, unknown>;

class Cursor {
  readonly bytes: Buffer;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes);
  }

  varint(): number {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = this.bytes.readUInt8(this.at++);
      value += (byte & 0x7f) * shift;
      if (byte < 0x80) return value;
    }
  }

  text(): string {
    const length = this.varint();
    if (this.at + length > this.bytes.length) throw new Error("the block is cut off");
    this.at += length;
    return new TextDecoder("utf-8", { fatal: true }).decode(this.bytes.subarray(this.at - length, this.at));
  }

  take<T>(width: number, read: (at: number) => T): T {
    this.at += width;
    return read(this.at - width);
  }
}

function readColumn(cursor: Cursor, type: string, count: number): unknown[] {
  const { bytes } = cursor;
  const repeat = <T>(read: () => T): T[] => Array.from({ length: count }, read);
  const inner = /^(?:Array|Map)\((?<inner>.*)\)$/s.exec(type)?.groups?.["inner"];
  if (inner !== undefined) {
    const ends = repeat(() => Number(cursor.take(8, (at) => bytes.readBigUInt64LE(at))));
    const total = ends.at(-1) ?? 0;
    const isMap = type.startsWith("Map(");
    const items = isMap
      ? zip(readColumn(cursor, "String", total), readColumn(cursor, "String", total))
      : readColumn(cursor, inner, total);
    return ends.map((end, index) => items.slice(ends[index - 1] ?? 0, end));
  }
  const kind = type.replace(/\(.*/s, "");
  switch (kind) {
    case "String":
      return repeat(() => cursor.text());
    case "UInt8":
    case "Enum8":
      return repeat(() => cursor.take(1, (at) => bytes.readUInt8(at)));
    case "UInt16":
      return repeat(() => cursor.take(2, (at) => bytes.readUInt16LE(at)));
    case "UInt32":
    case "DateTime":
      return repeat(() => cursor.take(4, (at) => bytes.readUInt32LE(at)));
    case "Int32":
      return repeat(() => cursor.take(4, (at) => bytes.readInt32LE(at)));
    case "UInt64":
      return repeat(() => cursor.take(8, (at) => bytes.readBigUInt64LE(at)));
    case "Int64":
    case "DateTime64":
      return repeat(() => cursor.take(8, (at) => bytes.readBigInt64LE(at)));
    case "Float64":
      return repeat(() => cursor.take(8, (at) => bytes.readDoubleLE(at)));
    default:
      throw new Error(`the block has a column of the type ${type}`);
  }
}

function zip(keys: unknown[], values: unknown[]): [unknown, unknown][] {
  return keys.map((key, index) => [key, values[index]]);
}

/** The rows of one block. Maps are lists of pairs; 64-bit integers and times are bigints. */
export function readBlock(block: Uint8Array): BlockRow[] {
  const cursor = new Cursor(block);
  const columnCount = cursor.varint();
  const rowCount = cursor.varint();
  const rows: BlockRow[] = Array.from({ length: rowCount }, () => ({}));
  for (let index = 0; index < columnCount; index += 1) {
    const name = cursor.text();
    const type = cursor.text();
    for (const [row, value] of readColumn(cursor, type, rowCount).entries()) rows[row]![name] = value;
  }
  if (cursor.at !== cursor.bytes.length) throw new Error("the block has bytes behind its last column");
  return rows;
}

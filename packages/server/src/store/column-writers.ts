/**
 * Encodes columns in ClickHouse's Native format: fixed-width values as little-endian, strings as a varint length and bytes,
 * arrays and maps as cumulative 64-bit offsets followed by their items.
 * https://clickhouse.com/docs/interfaces/formats/Native
 */
const hexDigits = Buffer.from("0123456789abcdef", "latin1");

function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length += 1;
  return length;
}

/** Writes an unsigned integer below 2^53 as a varint; returns the offset after it. */
export function writeVarint(target: Uint8Array, offset: number, value: number): number {
  let at = offset;
  let rest = value;
  while (rest >= 0x80) {
    target[at++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  target[at++] = rest;
  return at;
}

/** A growable buffer. */
class GrowingBytes {
  buffer: Buffer;
  length = 0;

  constructor(initialBytes: number) {
    this.buffer = Buffer.allocUnsafe(initialBytes);
  }

  /** Makes room for `bytes` more. This can replace `buffer`. */
  reserve(bytes: number): void {
    const needed = this.length + bytes;
    if (needed <= this.buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.buffer.length * 2));
    this.buffer.copy(larger, 0, 0, this.length);
    this.buffer = larger;
  }

  written(): Uint8Array {
    return this.buffer.subarray(0, this.length);
  }
}

/** What all column writers have in common. `count` is the number of values written. */
export interface ColumnWriter {
  readonly count: number;
  /** Bytes of memory allocated, used or not. */
  readonly capacity: number;
  /** Adds the type's default: zero, empty text, an empty list or map. */
  addDefault(): void;
  /** Removes all values and keeps the memory. */
  clear(): void;
  /** The encoded parts, in order. */
  parts(): Uint8Array[];
}

const nanosPerDay = 86_400_000_000_000;

/** Values of 1, 2, 4 or 8 bytes. */
export class FixedColumn implements ColumnWriter {
  readonly #bytes = new GrowingBytes(256);
  readonly #width: 1 | 2 | 4 | 8;
  count = 0;

  constructor(width: 1 | 2 | 4 | 8) {
    this.#width = width;
  }

  /** An unsigned integer: any of up to 32 bits, or one below 2^53 in an 8-byte column. */
  unsigned(value: number): void {
    const bytes = this.#next();
    const { buffer } = bytes;
    const at = bytes.length - this.#width;
    let rest = value;
    for (let index = 0; index < this.#width; index += 1) {
      // The lowest eight bits, also of numbers beyond 32 bits.
      buffer[at + index] = rest % 0x100;
      rest = rest < 0x8000_0000 ? rest >>> 8 : Math.floor(rest / 0x100);
    }
  }

  /** A signed integer of 32 bits. */
  signed(value: number): void {
    const bytes = this.#next();
    bytes.buffer.writeIntLE(value, bytes.length - this.#width, this.#width === 8 ? 6 : this.#width);
    if (this.#width === 8) bytes.buffer.fill(value < 0 ? 0xff : 0, bytes.length - 2, bytes.length);
  }

  float(value: number): void {
    const bytes = this.#next();
    bytes.buffer.writeDoubleLE(value, bytes.length - 8);
  }

  /** 64 bits, signed or not. */
  bigint(value: bigint): void {
    const bytes = this.#next();
    bytes.buffer.writeBigUInt64LE(BigInt.asUintN(64, value), bytes.length - 8);
  }

  /** Copies little-endian bytes of the column's width from `source`, such as an OTLP fixed64 or a double. */
  copy(source: Uint8Array, offset: number): void {
    const bytes = this.#next();
    const { buffer } = bytes;
    const width = this.#width;
    const at = bytes.length - width;
    for (let index = 0; index < width; index += 1) buffer[at + index] = source[offset + index]!;
  }

  addDefault(): void {
    const bytes = this.#next();
    const { buffer, length } = bytes;
    for (let index = length - this.#width; index < length; index += 1) buffer[index] = 0;
  }

  /** How many different days the values are in, as UNIX nanoseconds of an 8-byte column. */
  dayCount(): number {
    const { buffer, length } = this.#bytes;
    const days = new Set<number>();
    for (let at = 0; at < length; at += 8) {
      const unixNano = buffer.readInt32LE(at + 4) * 0x1_0000_0000 + buffer.readUInt32LE(at);
      days.add(Math.floor(unixNano / nanosPerDay));
    }
    return days.size;
  }

  get capacity(): number {
    return this.#bytes.buffer.length;
  }

  clear(): void {
    this.#bytes.length = 0;
    this.count = 0;
  }

  parts(): Uint8Array[] {
    return [this.#bytes.written()];
  }

  #next(): GrowingBytes {
    this.#bytes.reserve(this.#width);
    this.#bytes.length += this.#width;
    this.count += 1;
    return this.#bytes;
  }
}

/** Texts (bytes, by convention UTF-8). */
export class StringColumn implements ColumnWriter {
  readonly #bytes = new GrowingBytes(1024);
  count = 0;

  /** Lone surrogates become U+FFFD. */
  text(value: string): void {
    const { length } = value;
    if (length < 0x80) {
      // Short text: the length takes one byte if the text is ASCII. Otherwise the text is moved by a byte below.
      this.#bytes.reserve(3 * length + 2);
      const { buffer } = this.#bytes;
      const start = this.#bytes.length;
      const written = buffer.write(value, start + 1, "utf8");
      if (written < 0x80) buffer[start] = written;
      else {
        buffer.copyWithin(start + 2, start + 1, start + 1 + written);
        writeVarint(buffer, start, written);
      }
      this.#bytes.length = start + (written < 0x80 ? 1 : 2) + written;
    } else {
      const byteLength = Buffer.byteLength(value, "utf8");
      this.#bytes.reserve(byteLength + 5);
      const start = writeVarint(this.#bytes.buffer, this.#bytes.length, byteLength);
      this.#bytes.length = start + this.#bytes.buffer.write(value, start, "utf8");
    }
    this.count += 1;
  }

  /** The bytes of `source` from `start` to before `end`, which the caller knows to be UTF-8. */
  bytes(source: Uint8Array, start: number, end: number): void {
    const length = end - start;
    this.#bytes.reserve(length + varintLength(length));
    const { buffer } = this.#bytes;
    const at = writeVarint(buffer, this.#bytes.length, length);
    // Up to about this length, a loop is faster than the call into native code.
    if (length < 48) for (let index = 0; index < length; index += 1) buffer[at + index] = source[start + index]!;
    else buffer.set(source.subarray(start, end), at);
    this.#bytes.length = at + length;
    this.count += 1;
  }

  /** Those bytes as lower-case hex digits. */
  hex(source: Uint8Array, start: number, end: number): void {
    const length = 2 * (end - start);
    this.#bytes.reserve(length + varintLength(length));
    const { buffer } = this.#bytes;
    let at = writeVarint(buffer, this.#bytes.length, length);
    for (let index = start; index < end; index += 1) {
      const byte = source[index]!;
      buffer[at++] = hexDigits[byte >> 4]!;
      buffer[at++] = hexDigits[byte & 15]!;
    }
    this.#bytes.length = at;
    this.count += 1;
  }

  addDefault(): void {
    this.#bytes.reserve(1);
    this.#bytes.buffer[this.#bytes.length++] = 0;
    this.count += 1;
  }

  get capacity(): number {
    return this.#bytes.buffer.length;
  }

  clear(): void {
    this.#bytes.length = 0;
    this.count = 0;
  }

  parts(): Uint8Array[] {
    return [this.#bytes.written()];
  }
}

/** Maps from text to text: write `keys` and `values` pairwise, then end the row's map. */
export class MapColumn implements ColumnWriter {
  readonly keys = new StringColumn();
  readonly values = new StringColumn();
  readonly #offsets = new FixedColumn(8);

  get count(): number {
    return this.#offsets.count;
  }

  /** Ends the row's map: all entries written since the previous row. */
  end(): void {
    this.#offsets.unsigned(this.keys.count);
  }

  addDefault(): void {
    this.end();
  }

  get capacity(): number {
    return this.#offsets.capacity + this.keys.capacity + this.values.capacity;
  }

  clear(): void {
    this.#offsets.clear();
    this.keys.clear();
    this.values.clear();
  }

  parts(): Uint8Array[] {
    return [...this.#offsets.parts(), ...this.keys.parts(), ...this.values.parts()];
  }
}

/** Lists: write to `items`, then end the row's list. */
export class ArrayColumn<Item extends ColumnWriter> implements ColumnWriter {
  readonly items: Item;
  readonly #offsets = new FixedColumn(8);

  constructor(items: Item) {
    this.items = items;
  }

  get count(): number {
    return this.#offsets.count;
  }

  /** Ends the row's list: all items written since the previous row. */
  end(): void {
    this.#offsets.unsigned(this.items.count);
  }

  addDefault(): void {
    this.end();
  }

  get capacity(): number {
    return this.#offsets.capacity + this.items.capacity;
  }

  clear(): void {
    this.#offsets.clear();
    this.items.clear();
  }

  parts(): Uint8Array[] {
    return [...this.#offsets.parts(), ...this.items.parts()];
  }
}

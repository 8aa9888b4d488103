/** Takes apart and puts together the columns of blocks that block.ts encoded, without decoding their values. */

/** How a column's values are encoded: of fixed width, as texts, or as lists of one or more columns; a map is a list of keys and values. */
type Shape =
  | { readonly kind: "fixed"; readonly width: number }
  | { readonly kind: "texts" }
  | { readonly kind: "lists"; readonly items: readonly Shape[] };

/** The bytes of some values. */
export type ColumnPart =
  | { readonly kind: "values"; readonly bytes: Buffer }
  | {
      readonly kind: "lists";
      /** Where each list ends, as little-endian integers of 64 bits. */
      readonly ends: Buffer;
      readonly itemCount: number;
      readonly items: readonly ColumnPart[];
    };

const widths: Readonly<Record<string, number>> = {
  UInt8: 1,
  Enum8: 1,
  UInt16: 2,
  UInt32: 4,
  Int32: 4,
  DateTime: 4,
  UInt64: 8,
  Float64: 8,
  DateTime64: 8,
};

const texts: Shape = { kind: "texts" };
const shapes = new Map<string, Shape | undefined>();

function shapeOf(type: string): Shape | undefined {
  if (!shapes.has(type)) shapes.set(type, newShapeOf(type));
  return shapes.get(type);
}

function newShapeOf(type: string): Shape | undefined {
  if (type === "String") return texts;
  if (type === "Map(String, String)") return { kind: "lists", items: [texts, texts] };
  const list = /^Array\((?<item>.+)\)$/.exec(type)?.groups?.["item"];
  if (list !== undefined) {
    const item = shapeOf(list);
    return item && { kind: "lists", items: [item] };
  }
  const width = widths[type.replace(/\(.*$/, "")];
  return width === undefined ? undefined : { kind: "fixed", width };
}

/** Walks through a block's bytes. Its methods throw a RangeError at the end of the bytes. */
export class BlockCursor {
  readonly #bytes: Buffer;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get isAtEnd(): boolean {
    return this.at === this.#bytes.length;
  }

  varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#bytes.readUInt8(this.at);
      this.at += 1;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }

  text(): string {
    const length = this.varint();
    return this.#take(length).toString("utf8");
  }

  since(start: number): Buffer {
    return this.#bytes.subarray(start, this.at);
  }

  /** Undefined for a type that block.ts does not write. */
  column(type: string, count: number): ColumnPart | undefined {
    const shape = shapeOf(type);
    return shape && this.#part(shape, count);
  }

  #part(shape: Shape, count: number): ColumnPart {
    switch (shape.kind) {
      case "fixed":
        return { kind: "values", bytes: this.#take(count * shape.width) };
      case "texts": {
        const start = this.at;
        for (let index = 0; index < count; index += 1) this.#take(this.varint());
        return { kind: "values", bytes: this.since(start) };
      }
      case "lists": {
        const ends = this.#take(count * 8);
        const itemCount = count === 0 ? 0 : Number(ends.readBigUInt64LE(ends.length - 8));
        return { kind: "lists", ends, itemCount, items: shape.items.map((item) => this.#part(item, itemCount)) };
      }
    }
  }

  #take(length: number): Buffer {
    if (length > this.#bytes.length - this.at) throw new RangeError("A block of rows is cut off.");
    this.at += length;
    return this.since(this.at - length);
  }
}

/** The values of all parts, which belong to columns of one type, as pieces of bytes. */
export function joinedParts(parts: readonly ColumnPart[]): Uint8Array[] {
  const [first] = parts;
  if (first?.kind !== "lists") return parts.map((part) => (part.kind === "values" ? part.bytes : part.ends));
  const lists = parts.filter((part) => part.kind === "lists");
  return [
    joinedEnds(lists),
    ...first.items.flatMap((_, index) => joinedParts(lists.map(({ items }) => items[index]!))),
  ];
}

function joinedEnds(parts: readonly (ColumnPart & { kind: "lists" })[]): Buffer {
  const all = Buffer.concat(parts.map(({ ends }) => ends));
  let at = 0;
  let before = 0n;
  for (const { ends, itemCount } of parts) {
    for (const end = at + ends.length; at < end; at += 8) {
      all.writeBigUInt64LE(all.readBigUInt64LE(at) + before, at);
    }
    before += BigInt(itemCount);
  }
  return all;
}

/**
 * Writes GGUF files, version 3: a header, key-value metadata, tensor descriptions, then aligned tensor data.
 * https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
 */

export type GgufValue =
  | { readonly kind: "uint32"; readonly value: number }
  | { readonly kind: "float32"; readonly value: number }
  | { readonly kind: "bool"; readonly value: boolean }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "strings"; readonly value: readonly string[] }
  | { readonly kind: "int32s"; readonly value: readonly number[] };

export interface GgufTensor {
  readonly name: string;
  /** Columns first: the number of values that are next to each other, then the number of rows. */
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

const valueTypes = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9 } as const;
const float32Tensor = 0;
const alignment = 32;

function uint32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value);
  return buffer;
}

function uint64(value: number): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(BigInt(value));
  return buffer;
}

function float32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeFloatLE(value);
  return buffer;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint64(bytes.length), bytes]);
}

function array(type: number, items: readonly Buffer[]): Buffer {
  return Buffer.concat([uint32(valueTypes.array), uint32(type), uint64(items.length), ...items]);
}

const encoders: {
  readonly [Kind in GgufValue["kind"]]: (value: Extract<GgufValue, { kind: Kind }>["value"]) => Buffer;
} = {
  uint32: (value) => Buffer.concat([uint32(valueTypes.uint32), uint32(value)]),
  float32: (value) => Buffer.concat([uint32(valueTypes.float32), float32(value)]),
  bool: (value) => Buffer.concat([uint32(valueTypes.bool), Buffer.from([value ? 1 : 0])]),
  string: (value) => Buffer.concat([uint32(valueTypes.string), text(value)]),
  strings: (value) => array(valueTypes.string, value.map(text)),
  int32s: (value) =>
    array(
      valueTypes.int32,
      value.map((each) => uint32(each >>> 0)),
    ),
};

function encodeValue({ kind, value }: GgufValue): Buffer {
  // The table has each kind's own encoder, which the compiler cannot follow through the union.
  return (encoders[kind] as (value: unknown) => Buffer)(value);
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((alignment - (bytes.length % alignment)) % alignment)]);
}

function littleEndianBytes(data: Float32Array): Buffer {
  const bytes = Buffer.alloc(data.byteLength);
  data.forEach((value, index) => bytes.writeFloatLE(value, index * 4));
  return bytes;
}

/** The bytes of a GGUF file. The same arguments produce the same bytes. */
export function encodeGguf(metadata: Readonly<Record<string, GgufValue>>, tensors: readonly GgufTensor[]): Buffer {
  const entries = Object.entries(metadata);
  const head: Buffer[] = [Buffer.from("GGUF"), uint32(3), uint64(tensors.length), uint64(entries.length)];
  for (const [key, value] of entries) head.push(text(key), encodeValue(value));
  const body: Buffer[] = [];
  let offset = 0;
  for (const { name, shape, data } of tensors) {
    head.push(text(name), uint32(shape.length), ...shape.map(uint64), uint32(float32Tensor), uint64(offset));
    const bytes = padded(littleEndianBytes(data));
    body.push(bytes);
    offset += bytes.length;
  }
  return Buffer.concat([padded(Buffer.concat(head)), ...body]);
}

/**
 * Reads an ONNX file's `metadata_props` without its weights, which may be gigabytes.
 * https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3, https://protobuf.dev/programming-guides/encoding/
 */
import { open, type FileHandle } from "node:fs/promises";

export type OnnxMetadata = ReadonlyMap<string, string>;

/** Numbers of the fields of a ModelProto and of its entries. */
const irVersion = 1;
const graph = 7;
const metadataProps = 14;
const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 };
/** No metadata of a real model is longer. */
const longestEntry = 4 * 2 ** 20;

class NotOnnx extends Error {}

/**
 * Keys and values of the file's metadata, empty if it has none; undefined if it is no ONNX file (such as one in ONNX
 * Runtime's own format, `.ort`).
 */
export async function readOnnxMetadata(path: string): Promise<OnnxMetadata | undefined> {
  const file = await open(path);
  try {
    return await readModel(file, (await file.stat()).size);
  } catch (error) {
    if (error instanceof NotOnnx) return undefined;
    throw error;
  } finally {
    await file.close();
  }
}

/** Why a file is not an ONNX model; undefined if it may be one. */
export async function onnxProblem(path: string): Promise<string | undefined> {
  return (await readOnnxMetadata(path)) === undefined ? "it is not an ONNX file" : undefined;
}

async function readModel(file: FileHandle, size: number): Promise<OnnxMetadata> {
  const metadata = new Map<string, string>();
  const seen = new Set<number>();
  for (let at = 0; at < size;) {
    const { field, start, end } = await readField(file, at, size);
    seen.add(field);
    if (field === metadataProps) {
      const [key, value] = readEntry(await bytesOf(file, start, end));
      metadata.set(key, value);
    }
    at = end;
  }
  if (!seen.has(irVersion) || !seen.has(graph)) throw new NotOnnx();
  return metadata;
}

interface Field {
  readonly field: number;
  /** Of its value, in bytes from the beginning. */
  readonly start: number;
  readonly end: number;
}

async function readField(file: FileHandle, at: number, size: number): Promise<Field> {
  const head = await bytesOf(file, at, Math.min(size, at + 20));
  const tag = readVarint(head, 0);
  const field = Math.floor(tag.value / 8);
  const start = at + tag.next;
  let end: number;
  switch (tag.value % 8) {
    case wireTypes.varint:
      end = at + readVarint(head, tag.next).next;
      break;
    case wireTypes.fixed64:
      end = start + 8;
      break;
    case wireTypes.fixed32:
      end = start + 4;
      break;
    case wireTypes.bytes: {
      const length = readVarint(head, tag.next);
      end = at + length.next + length.value;
      if (end > size) throw new NotOnnx();
      return { field, start: at + length.next, end };
    }
    default:
      throw new NotOnnx();
  }
  if (field === 0 || end > size) throw new NotOnnx();
  return { field, start, end };
}

async function bytesOf(file: FileHandle, start: number, end: number): Promise<Buffer> {
  if (end - start > longestEntry) throw new NotOnnx();
  const { buffer, bytesRead } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
  return buffer.subarray(0, bytesRead);
}

function readVarint(bytes: Buffer, from: number): { value: number; next: number } {
  let value = 0;
  for (let index = from; index < Math.min(bytes.length, from + 10); index++) {
    const byte = bytes[index]!;
    value += (byte & 0x7f) * 2 ** (7 * (index - from));
    if (byte < 0x80) {
      if (!Number.isSafeInteger(value)) throw new NotOnnx();
      return { value, next: index + 1 };
    }
  }
  throw new NotOnnx();
}

/** Bytes that add these entries to an ONNX file when they are appended to it; of two entries with one key the last counts. */
export function encodeMetadata(entries: OnnxMetadata): Buffer {
  return Buffer.concat(
    [...entries].map(([key, value]) =>
      encodeField(metadataProps, Buffer.concat([encodeField(1, Buffer.from(key)), encodeField(2, Buffer.from(value))])),
    ),
  );
}

function encodeField(field: number, value: Buffer): Buffer {
  return Buffer.concat([encodeVarint(field * 8 + wireTypes.bytes), encodeVarint(value.length), value]);
}

function encodeVarint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** A StringStringEntryProto. */
function readEntry(bytes: Buffer): [key: string, value: string] {
  const texts = ["", ""];
  for (let at = 0; at < bytes.length;) {
    const tag = readVarint(bytes, at);
    if (tag.value % 8 !== wireTypes.bytes) throw new NotOnnx();
    const length = readVarint(bytes, tag.next);
    const end = length.next + length.value;
    texts[Math.floor(tag.value / 8) - 1] = bytes.toString("utf8", length.next, end);
    at = end;
  }
  return [texts[0]!, texts[1]!];
}

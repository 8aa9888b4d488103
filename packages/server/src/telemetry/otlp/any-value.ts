/** Reads OTLP's AnyValue and writes it as the store keeps it: a letter for the kind, and the value as text (see `attributeKinds`). */
import { isUtf8 } from "node:buffer";
import type { StringColumn } from "../../store/column-writers.ts";
import { kindCodes } from "../rows/attribute-kinds.ts";
import type { SealContent } from "../rows/seal-content.ts";
import type { Hash64 } from "../rows/hash64.ts";
import { anyValue, arrayValue, keyValue, keyValueList } from "../../protobuf/otlp-messages.ts";
import { wireType } from "../../protobuf/message-type.ts";
import { malformed, MessageScan } from "../../protobuf/message-scan.ts";
import { boolAt, doubleAt, doubleText, int64TextAt, uint32At } from "../../protobuf/numbers.ts";
import { inputLimit } from "../../input-limits.ts";

/** Maximum nesting of lists and maps; deeper requests are rejected. */
export const maximumDepth = inputLimit({
  area: "OpenTelemetry data",
  bounds: "Levels of nested lists and maps in a value",
  value: 64,
  error: "invalid_request",
});

const field = anyValue.fields;
const kind = kindCodes;
/** The first byte of a string, an integer and a double: field number and wire type. */
const stringTag = (field.stringValue << 3) | wireType.bytes;
const integerTag = (field.intValue << 3) | wireType.varint;
const doubleTag = (field.doubleValue << 3) | wireType.fixed64;

/** By field number: the kind of the value in this field of AnyValue. */
const kindByField = new Uint8Array(anyValue.acceptedWireTypes.length);
kindByField[field.stringValue] = kind.string;
kindByField[field.boolValue] = kind.boolean;
kindByField[field.intValue] = kind.integer;
kindByField[field.doubleValue] = kind.double;
kindByField[field.arrayValue] = kind.array;
kindByField[field.kvlistValue] = kind.map;
kindByField[field.bytesValue] = kind.bytes;

/** Writes bytes that should be UTF-8; invalid sequences become U+FFFD. */
export function writeText(column: StringColumn, bytes: Uint8Array, start: number, end: number): void {
  if (isValidText(bytes, start, end)) column.bytes(bytes, start, end);
  else column.text(textAt(bytes, start, end));
}

export function textAt(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("utf8");
}

const digits = new Uint8Array(10);

/** A number of up to ten digits. */
function writeDigits(column: StringColumn, value: number): void {
  let at = digits.length;
  let rest = value;
  do {
    const next = Math.floor(rest / 10);
    at -= 1;
    digits[at] = 0x30 + rest - next * 10;
    rest = next;
  } while (rest > 0);
  column.bytes(digits, at, digits.length);
}

/** Whether the bytes are exactly one varint. */
function isOneVarint(bytes: Uint8Array, start: number, end: number): boolean {
  for (let index = start; index < end - 1; index += 1) if (bytes[index]! < 0x80) return false;
  return bytes[end - 1]! < 0x80;
}

function isValidText(bytes: Uint8Array, start: number, end: number): boolean {
  let seen = 0;
  if (end - start <= 64) {
    for (let index = start; index < end; index += 1) seen |= bytes[index]!;
    if (seen < 0x80) return true;
  }
  return isUtf8(bytes.subarray(start, end));
}

/** The value that was read last. One reader serves many values, one after the other. */
export class AnyValueReader {
  readonly #scan = new MessageScan(anyValue);
  /** One of `kindCodes`. */
  kind = kind.empty;
  /** Where the content of a string or bytes, or a number, begins. */
  start = 0;
  end = 0;

  /** Reads the AnyValue at this position; an empty value if `start` is 0. */
  read(bytes: Uint8Array, start: number, end: number): void {
    this.kind = kind.empty;
    this.start = 0;
    this.end = 0;
    if (start === 0) return;
    if (this.#readShort(bytes, start, end)) return;
    this.#scan.read(bytes, start, end);
    // Of a oneof's members, the last on the wire counts.
    for (let number = 1; number < kindByField.length; number += 1) {
      if (this.#scan.starts[number]! > this.start) {
        this.kind = kindByField[number]!;
        this.start = this.#scan.starts[number]!;
        this.end = this.#scan.ends[number]!;
      }
    }
    this.#scan.forget();
  }

  /** Nearly every value is a short string or a number, which needs no scan. */
  #readShort(bytes: Uint8Array, start: number, end: number): boolean {
    const length = end - start;
    const tag = bytes[start];
    if (tag === stringTag && length >= 2 && length < 0x82 && bytes[start + 1] === length - 2) {
      this.kind = kind.string;
      this.start = start + 2;
    } else if (tag === doubleTag && length === 9) {
      this.kind = kind.double;
      this.start = start + 1;
    } else if (tag === integerTag && length >= 2 && length < 6 && isOneVarint(bytes, start + 1, end)) {
      this.kind = kind.integer;
      this.start = start + 1;
    } else return false;
    this.end = end;
    return true;
  }

  /** Writes the value as text. */
  write(column: StringColumn, bytes: Uint8Array): void {
    if (this.kind === kind.string) writeText(column, bytes, this.start, this.end);
    else if (this.kind === kind.empty) column.addDefault();
    else if (this.kind === kind.integer && this.end - this.start < 5) {
      writeDigits(column, uint32At(bytes, this.start));
    } else column.text(this.text(bytes));
  }

  /** The value's text, encrypted; undefined for an empty value. */
  sealed(bytes: Uint8Array, seal: SealContent): string | undefined {
    if (this.kind === kind.empty) return undefined;
    const sealing = seal(String.fromCharCode(this.kind));
    const isText = this.kind === kind.string && isValidText(bytes, this.start, this.end);
    sealing.add(isText ? bytes.subarray(this.start, this.end) : Buffer.from(this.text(bytes)));
    return sealing.end();
  }

  /** Adds the value to a hash, which is the same for every encoding of the value. */
  hash(hash: Hash64, bytes: Uint8Array): void {
    hash.add(this.kind, 0);
    if (this.kind === kind.array || this.kind === kind.map) hash.addText(this.text(bytes));
    else hash.addBytes(bytes, this.start, this.end);
  }

  text(bytes: Uint8Array): string {
    switch (this.kind) {
      case kind.string:
        return textAt(bytes, this.start, this.end);
      case kind.integer:
        return int64TextAt(bytes, this.start);
      case kind.double:
        return doubleText(doubleAt(bytes, this.start));
      case kind.boolean:
        return String(boolAt(bytes, this.start));
      case kind.bytes:
        return base64At(bytes, this.start, this.end);
      case kind.array:
        return JSON.stringify({ arrayValue: { values: arrayItems(bytes, this.start, this.end, 1) } });
      case kind.map:
        return JSON.stringify({ kvlistValue: { values: mapEntries(bytes, this.start, this.end, 1) } });
      default:
        return "";
    }
  }
}

function base64At(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("base64");
}

/** A value inside a list or a map, as OTLP/JSON writes it. https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */
function toJson(bytes: Uint8Array, start: number, end: number, depth: number): Record<string, unknown> {
  if (depth > maximumDepth) throw malformed(`a value is nested more than ${maximumDepth} levels deep`, "AnyValue");
  const value = new AnyValueReader();
  value.read(bytes, start, end);
  switch (value.kind) {
    case kind.string:
      return { stringValue: value.text(bytes) };
    case kind.integer:
      return { intValue: value.text(bytes) };
    case kind.double: {
      const number = doubleAt(bytes, value.start);
      return { doubleValue: Number.isFinite(number) && !Object.is(number, -0) ? number : doubleText(number) };
    }
    case kind.boolean:
      return { boolValue: boolAt(bytes, value.start) };
    case kind.bytes:
      return { bytesValue: value.text(bytes) };
    case kind.array:
      return { arrayValue: { values: arrayItems(bytes, value.start, value.end, depth + 1) } };
    case kind.map:
      return { kvlistValue: { values: mapEntries(bytes, value.start, value.end, depth + 1) } };
    default:
      return {};
  }
}

function arrayItems(bytes: Uint8Array, start: number, end: number, depth: number): unknown[] {
  const scan = new MessageScan(arrayValue);
  scan.read(bytes, start, end);
  const items = scan.list(arrayValue.fields.values);
  return Array.from({ length: items.length }, (_, index) => toJson(bytes, items.start(index), items.end(index), depth));
}

function mapEntries(bytes: Uint8Array, start: number, end: number, depth: number): unknown[] {
  const scan = new MessageScan(keyValueList);
  scan.read(bytes, start, end);
  const entries = scan.list(keyValueList.fields.values);
  return Array.from({ length: entries.length }, (_, index) => {
    const entry = new MessageScan(keyValue);
    entry.read(bytes, entries.start(index), entries.end(index));
    const { starts, ends } = entry;
    const { key, value } = keyValue.fields;
    return {
      key: textAt(bytes, starts[key]!, ends[key]!),
      value: entry.has(value) ? toJson(bytes, starts[value]!, ends[value]!, depth) : {},
    };
  });
}

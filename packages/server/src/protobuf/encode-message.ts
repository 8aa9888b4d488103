/**
 * Encodes JSON values as protobuf, for OTLP/JSON requests, which are then decoded like protobuf requests, and for our
 * responses. OTLP differs from protobuf's JSON mapping: IDs are hex digits and enums are numbers.
 * https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
 */
import { showValue } from "../api/validate.ts";
import { AppError } from "../errors.ts";
import { type Field, MessageType, wireType, wireTypeOf } from "./message-type.ts";
import { inputLimit } from "../input-limits.ts";

/** Maximum nesting of messages. Requests without nested lists in attributes have fewer than ten levels. */
const maximumDepth = inputLimit({
  area: "OpenTelemetry data",
  bounds: "Levels of nesting of a message in OTLP/JSON",
  value: 256,
  error: "invalid_request",
});
const uint64Limit = 1n << 64n;
const int64Limit = 1n << 63n;

/**
 * The message's bytes.
 * @throws AppError invalid_request that names the invalid member
 */
export function encodeMessage(type: MessageType, value: unknown): Buffer {
  const encoder = new MessageEncoder();
  encoder.message(type, value);
  return encoder.finish();
}

class MessageEncoder {
  #bytes = Buffer.allocUnsafe(4096);
  #length = 0;
  /** The path of names and indexes to the current value, for error messages. */
  readonly #path: (string | number)[] = [];

  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  message(type: MessageType, value: unknown): void {
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw this.#wrong("an object", value);
    if (this.#path.length > maximumDepth) throw this.#wrong(`nested at most ${maximumDepth} levels deep`, "…");
    for (const name in value) {
      const field = type.byJsonName.get(name);
      if (field === undefined) continue;
      const member = (value as Record<string, unknown>)[name];
      // Null means absent, as everywhere in protobuf's JSON.
      if (member === null || member === undefined) continue;
      this.#path.push(name);
      if (field.repeated) this.#list(field, member);
      else this.#field(field, member);
      this.#path.pop();
    }
  }

  #list(field: Field, value: unknown): void {
    if (!Array.isArray(value)) throw this.#wrong("an array", value);
    for (let index = 0; index < value.length; index += 1) {
      this.#path.push(index);
      this.#field(field, value[index]);
      this.#path.pop();
    }
  }

  #field({ number, kind }: Field, value: unknown): void {
    this.#varint((number << 3) | wireTypeOf(kind));
    if (kind instanceof MessageType) this.#nested(kind, value);
    else if (wireTypeOf(kind) === wireType.bytes) this.#content(this.#toBytes(kind, value));
    else this.#number(kind, value);
  }

  /** Writes the message after one byte for its length, and moves it if the length needs more bytes. */
  #nested(type: MessageType, value: unknown): void {
    this.#reserve(1);
    const lengthAt = this.#length;
    this.#length += 1;
    this.message(type, value);
    const length = this.#length - lengthAt - 1;
    if (length < 0x80) {
      this.#bytes[lengthAt] = length;
      return;
    }
    const more = Math.floor((31 - Math.clz32(length)) / 7);
    this.#reserve(more);
    this.#bytes.copyWithin(lengthAt + 1 + more, lengthAt + 1, this.#length);
    const end = this.#length + more;
    this.#length = lengthAt;
    this.#varint(length);
    this.#length = end;
  }

  #toBytes(kind: Field["kind"], value: unknown): Buffer | string {
    if (typeof value !== "string") throw this.#wrong("a string", value);
    if (kind === "string") return value;
    if (kind === "id") {
      if (value.length % 2 !== 0 || !/^[\da-f]*$/i.test(value)) throw this.#wrong("hex digits", value);
      return Buffer.from(value, "hex");
    }
    if (!/^[\w+/-]*={0,2}$/.test(value)) throw this.#wrong("base64", value);
    return Buffer.from(value, "base64");
  }

  #content(content: Buffer | string): void {
    const length = typeof content === "string" ? Buffer.byteLength(content, "utf8") : content.length;
    this.#varint(length);
    this.#reserve(length);
    if (typeof content === "string") this.#bytes.write(content, this.#length, "utf8");
    else this.#bytes.set(content, this.#length);
    this.#length += length;
  }

  #number(kind: Field["kind"], value: unknown): void {
    switch (kind) {
      case "bool":
        if (typeof value !== "boolean") throw this.#wrong("true or false", value);
        return this.#varint(value ? 1 : 0);
      case "enum":
        if (typeof value !== "number" || !Number.isInteger(value) || Math.abs(value) > 0x7fff_ffff) {
          throw this.#wrong("an integer, the number of an enum value", value);
        }
        return this.#varint64(BigInt(value));
      case "uint32":
      case "fixed32": {
        const number = Number(this.#integer(value, { lowest: 0n, limit: 1n << 32n }));
        return kind === "uint32" ? this.#varint(number) : this.#fixed32(number);
      }
      case "int32":
        return this.#varint64(this.#integer(value, { lowest: -(1n << 31n), limit: 1n << 31n }));
      case "sint32": {
        const number = Number(this.#integer(value, { lowest: -(1n << 31n), limit: 1n << 31n }));
        return this.#varint(((number << 1) ^ (number >> 31)) >>> 0);
      }
      case "int64":
        return this.#varint64(this.#integer(value, { lowest: -int64Limit, limit: int64Limit }));
      case "uint64":
        return this.#varint64(this.#integer(value, { lowest: 0n, limit: uint64Limit }));
      case "fixed64":
        return this.#fixed64(this.#integer(value, { lowest: 0n, limit: uint64Limit }));
      case "sfixed64":
        return this.#fixed64(this.#integer(value, { lowest: -int64Limit, limit: int64Limit }));
      case "float":
        this.#reserve(4);
        this.#length = this.#bytes.writeFloatLE(this.#double(value), this.#length);
        return;
      default:
        this.#reserve(8);
        this.#length = this.#bytes.writeDoubleLE(this.#double(value), this.#length);
    }
  }

  /** An integer, as a number or as text. */
  #integer(value: unknown, { lowest, limit }: { readonly lowest: bigint; readonly limit: bigint }): bigint {
    const isInteger =
      typeof value === "number" ? Number.isInteger(value) : typeof value === "string" && /^-?\d{1,20}$/.test(value);
    if (isInteger) {
      const integer = BigInt(value as string | number);
      if (integer >= lowest && integer < limit) return integer;
    }
    throw this.#wrong(`an integer from ${lowest} to ${limit - 1n}`, value);
  }

  #double(value: unknown): number {
    if (typeof value === "number") return value;
    if (value === "NaN" || value === "Infinity" || value === "-Infinity") return Number(value);
    if (typeof value === "string" && /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(value)) return Number(value);
    throw this.#wrong('a number, "NaN", "Infinity" or "-Infinity"', value);
  }

  #varint(value: number): void {
    this.#reserve(5);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#bytes[this.#length++] = rest;
  }

  #varint64(value: bigint): void {
    if (value >= 0n && value < 0x8000_0000n) return this.#varint(Number(value));
    this.#reserve(10);
    let rest = BigInt.asUintN(64, value);
    while (rest >= 0x80n) {
      this.#bytes[this.#length++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#bytes[this.#length++] = Number(rest);
  }

  #fixed32(value: number): void {
    this.#reserve(4);
    this.#length = this.#bytes.writeUInt32LE(value, this.#length);
  }

  #fixed64(value: bigint): void {
    this.#reserve(8);
    this.#length = this.#bytes.writeBigUInt64LE(BigInt.asUintN(64, value), this.#length);
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#length + bytes, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }

  #wrong(expected: string, value: unknown): AppError {
    const path = this.#path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
    const field = path.slice(1);
    const subject = field === "" ? "The body" : field.length > 300 ? `…${field.slice(-300)}` : field;
    return new AppError("invalid_request", `${subject} is ${shown(value)}; expected ${expected}.`, {
      param: field === "" ? undefined : field.slice(-300),
    });
  }
}

/** Objects are not shown: they can be large, or too deep for JSON.stringify. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" && value !== null ? "an object" : showValue(value);
}

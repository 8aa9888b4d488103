/**
 * Locates the fields of a protobuf message in its bytes in one pass, without allocating values. Fields can have any order on the
 * wire, but columns are written in the table's order. Unknown fields are skipped; as the protobuf specification says, a known
 * field with another wire type counts as unknown.
 */
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import { type MessageType, wireType } from "./message-type.ts";

/** Start and end of each value of a repeated field. */
export class RangeList {
  #bounds = new Int32Array(16);
  length = 0;

  clear(): void {
    this.length = 0;
  }

  add(start: number, end: number): void {
    const at = this.length * 2;
    if (at === this.#bounds.length) {
      const larger = new Int32Array(at * 2);
      larger.set(this.#bounds);
      this.#bounds = larger;
    }
    this.#bounds[at] = start;
    this.#bounds[at + 1] = end;
    this.length += 1;
  }

  start(index: number): number {
    return this.#bounds[index * 2]!;
  }

  end(index: number): number {
    return this.#bounds[index * 2 + 1]!;
  }
}

/**
 * A message is scanned without yielding, and each value of a repeated field takes 8 bytes: 64 MiB of empty records would
 * block the server for seconds.
 */
const maxMessageFields = inputLimit({
  area: "OpenTelemetry data",
  bounds: "Fields of one protobuf message, such as the records of a scope or the attributes of a record",
  value: 524_288,
  error: "payload_too_large",
});

function tooManyFields(name: string): AppError {
  return new AppError(
    "payload_too_large",
    `One ${name} of the request has more than ${maxMessageFields} fields, which is the limit. Send smaller requests.`,
    { param: name },
  );
}

/** Maximum nesting of groups in unknown fields. */
const maximumGroupDepth = inputLimit({
  area: "OpenTelemetry data",
  bounds: "Levels of nested groups in unknown fields",
  value: 32,
  error: "invalid_request",
});

const noBytes = new Uint8Array(0);

/** The last message that was read. One scan serves many messages of its type, one after the other. */
export class MessageScan {
  readonly #type: MessageType;
  /** The bytes that the message was read from. */
  bytes: Uint8Array = noBytes;
  /** By field number: where the value begins, after its tag and length; 0 if the message does not have the field. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly #lists: (RangeList | undefined)[];

  constructor(type: MessageType) {
    this.#type = type;
    const size = type.acceptedWireTypes.length;
    this.starts = new Int32Array(size);
    this.ends = new Int32Array(size);
    this.#lists = Array.from(type.repeated, (repeated) => (repeated === 1 ? new RangeList() : undefined));
  }

  /** Releases the bytes, for a scan that outlives the request. */
  forget(): void {
    this.bytes = noBytes;
  }

  /** The values of a repeated field. Repeated numbers can be packed, several in one range. */
  list(number: number): RangeList {
    return this.#lists[number]!;
  }

  has(number: number): boolean {
    return this.starts[number] !== 0;
  }

  /** @throws AppError invalid_request if the bytes are not a valid message */
  read(bytes: Uint8Array, start: number, end: number): void {
    this.bytes = bytes;
    const { starts, ends } = this;
    const { acceptedWireTypes: accepted } = this.#type;
    const lists = this.#lists;
    for (let field = 0; field < starts.length; field += 1) {
      if (starts[field] === 0) continue;
      starts[field] = 0;
      ends[field] = 0;
      lists[field]?.clear();
    }
    let at = start;
    let fields = 0;
    while (at < end) {
      fields += 1;
      if (fields > maxMessageFields) throw tooManyFields(this.#type.name);
      const tagAt = at;
      let tag = bytes[at++]!;
      if (tag >= 0x80) {
        tag = readVarint32(bytes, tagAt, end);
        at = varintEnd(bytes, tagAt, end);
      }
      const number = tag >>> 3;
      let valueStart = at;
      switch (tag & 7) {
        case wireType.varint:
          at = varintEnd(bytes, at, end);
          break;
        case wireType.fixed64:
          at += 8;
          break;
        case wireType.fixed32:
          at += 4;
          break;
        case wireType.bytes: {
          let length = at < end ? bytes[at]! : 0x80;
          if (length < 0x80) valueStart = at + 1;
          else {
            valueStart = varintEnd(bytes, at, end);
            length = readVarint32(bytes, at, end);
          }
          at = valueStart + length;
          break;
        }
        case wireType.startGroup:
          at = skipGroup(bytes, { at, end, number, depth: 0 });
          break;
        default:
          throw this.#malformed(`wire type ${tag & 7}`, tagAt);
      }
      if (at > end) throw this.#malformed("a field that extends beyond its end", tagAt);
      if (number === 0) throw this.#malformed("a field with the number 0", tagAt);
      if (number < accepted.length && ((accepted[number]! >> (tag & 7)) & 1) === 1) {
        starts[number] = valueStart;
        ends[number] = at;
        lists[number]?.add(valueStart, at);
      }
    }
  }

  #malformed(what: string, at: number): AppError {
    return malformed(`${this.#type.name} has ${what} at byte ${at}`, this.#type.name);
  }
}

/** The error for invalid bytes. */
export function malformed(message: string, field?: string): AppError {
  return new AppError("invalid_request", `The request cannot be decoded: ${message}.`, { param: field });
}

/** The offset after the varint at `at`. */
export function varintEnd(bytes: Uint8Array, at: number, end: number): number {
  const limit = Math.min(end, at + 10);
  for (let index = at; index < limit; index += 1) if (bytes[index]! < 0x80) return index + 1;
  throw malformed(`a number at byte ${at} is ${limit === end ? "truncated" : "longer than 10 bytes"}`);
}

/** A length or a tag: a varint below 2^31. */
export function readVarint32(bytes: Uint8Array, at: number, end: number): number {
  let value = 0;
  let factor = 1;
  const limit = varintEnd(bytes, at, end);
  for (let index = at; index < limit; index += 1) {
    value += (bytes[index]! & 0x7f) * factor;
    factor *= 0x80;
  }
  if (value > 0x7fff_ffff) throw malformed(`a length or field number at byte ${at} is ${value}, which is beyond 2^31`);
  return value;
}

/** The offset after the value of a field. */
export function skipValue(
  bytes: Uint8Array,
  value: { readonly at: number; readonly end: number; readonly tag: number; readonly depth?: number },
): number {
  const { at, depth = 0, end, tag } = value;
  switch (tag & 7) {
    case wireType.varint:
      return varintEnd(bytes, at, end);
    case wireType.fixed64:
      return at + 8;
    case wireType.fixed32:
      return at + 4;
    case wireType.bytes:
      return varintEnd(bytes, at, end) + readVarint32(bytes, at, end);
    case wireType.startGroup:
      return skipGroup(bytes, { at, end, number: tag >>> 3, depth });
    default:
      throw malformed(`an unknown field has wire type ${tag & 7} at byte ${at}`);
  }
}

function skipGroup(
  bytes: Uint8Array,
  group: { readonly at: number; readonly end: number; readonly number: number; readonly depth: number },
): number {
  const { end, number, depth } = group;
  if (depth > maximumGroupDepth) throw malformed(`groups are nested more than ${maximumGroupDepth} levels deep`);
  let { at } = group;
  while (at < end) {
    const tag = readVarint32(bytes, at, end);
    at = varintEnd(bytes, at, end);
    if ((tag & 7) !== wireType.endGroup) at = skipValue(bytes, { at, end, tag, depth: depth + 1 });
    else if (tag >>> 3 === number) return at;
    else throw malformed(`a group that was not started ends at byte ${at}`);
  }
  throw malformed(`a group is truncated at byte ${at}`);
}

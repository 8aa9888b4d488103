/** Replaces the texts of a protobuf message in its bytes. What does not change is copied as it is. */
import { inputLimit } from "../../input-limits.ts";
import { malformed, readVarint32, skipValue, varintEnd } from "../../protobuf/message-scan.ts";
import { type Field, MessageType, wireType } from "../../protobuf/message-type.ts";
import type { CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import type { TextRedactor } from "./text-redactor.ts";

/** More levels than a record with the deepest value that is accepted has. */
const maximumDepth = 256;

/** Longer bytes are not filtered, but read: the filter does not yield. */
const filteredBytes = 262_144;
const longestText = inputLimit({
  area: "OpenTelemetry data",
  bounds: "Length of a text in which redaction searches",
  value: 4_194_304,
  unit: "bytes",
  error: { instead: "the text is replaced" },
});
const tooLong = Buffer.from("[redacted: too long]");

/** Deeper messages are not filtered before they are read: each level would read the same bytes again. */
const filteredDepth = 4;

interface Part {
  /** Where the value is that is replaced, and its field's tag. */
  readonly tagStart: number;
  readonly tagEnd: number;
  readonly end: number;
  readonly value: Uint8Array;
}

export interface MessageBytes {
  readonly type: MessageType;
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** Whether a message may contain something to replace. */
function mayContain(redactor: TextRedactor, bytes: Uint8Array, start: number, end: number): boolean {
  return end - start > filteredBytes || redactor.mayMatch(bytes, start, end);
}

/**
 * A message's bytes with its sensitive data replaced; undefined if there is none, as nearly always, without a promise.
 * @throws AppError invalid_request if the bytes are not a valid message
 */
export function redactMessage(
  message: MessageBytes,
  redactor: TextRedactor | undefined,
  yielder: CooperativeYield,
): Promise<Uint8Array | undefined> | undefined {
  if (redactor === undefined || !mayContain(redactor, message.bytes, message.start, message.end)) return undefined;
  return redactFields(message, redactor, yielder);
}

async function redactFields(
  message: MessageBytes,
  redactor: TextRedactor,
  yielder: CooperativeYield,
  depth = 0,
): Promise<Uint8Array | undefined> {
  if (depth > maximumDepth) throw malformed(`messages are nested more than ${maximumDepth} levels deep`);
  const { bytes, end, start, type } = message;
  const fields = fieldsOf(type);
  const parts: Part[] = [];
  for (let at = start; at < end;) {
    const tagStart = at;
    const tag = readVarint32(bytes, at, end);
    const tagEnd = varintEnd(bytes, at, end);
    const valueStart = (tag & 7) === wireType.bytes ? varintEnd(bytes, tagEnd, end) : tagEnd;
    at = skipValue(bytes, { at: tagEnd, end, tag });
    if (at > end)
      throw malformed(`${type.name} has a field that extends beyond its end at byte ${tagStart}`, type.name);
    const field = (tag & 7) === wireType.bytes ? fields[tag >>> 3] : undefined;
    if (field === undefined || (depth <= filteredDepth && !mayContain(redactor, bytes, valueStart, at))) continue;
    const value =
      field.kind instanceof MessageType
        ? await redactFields({ type: field.kind, bytes, start: valueStart, end: at }, redactor, yielder, depth + 1)
        : await redactedText(bytes.subarray(valueStart, at), redactor, yielder);
    if (value !== undefined) parts.push({ tagStart, tagEnd, end: at, value });
    if (yielder.isDue()) await yielder.yield();
  }
  return parts.length === 0 ? undefined : withParts(message, parts);
}

async function redactedText(
  bytes: Uint8Array,
  redactor: TextRedactor,
  yielder: CooperativeYield,
): Promise<Uint8Array | undefined> {
  if (bytes.length > longestText) return tooLong;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
  const redacted = await redactor.redact(text, yielder);
  return redacted === undefined ? undefined : Buffer.from(redacted, "utf8");
}

function withParts({ bytes, end, start }: MessageBytes, parts: readonly Part[]): Uint8Array {
  const pieces: Uint8Array[] = [];
  let at = start;
  for (const part of parts) {
    pieces.push(bytes.subarray(at, part.tagEnd), lengthBytes(part.value.length), part.value);
    at = part.end;
  }
  pieces.push(bytes.subarray(at, end));
  return Buffer.concat(pieces);
}

function lengthBytes(length: number): Uint8Array {
  const bytes: number[] = [];
  let rest = length;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

const known = new WeakMap<MessageType, readonly (Field | undefined)[]>();

/** By number: fields that hold text, or messages. */
function fieldsOf(type: MessageType): readonly (Field | undefined)[] {
  const found = known.get(type);
  if (found !== undefined) return found;
  const fields: (Field | undefined)[] = [];
  for (const field of type.byJsonName.values()) {
    if (field.kind === "string" || field.kind instanceof MessageType) fields[field.number] = field;
  }
  known.set(type, fields);
  return fields;
}

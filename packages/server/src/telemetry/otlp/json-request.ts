/** Converts an OTLP/JSON request to protobuf. Runs on the event loop for small bodies and in a worker for large ones. */
import { AppError } from "../../errors.ts";
import { encodeMessage } from "../../protobuf/encode-message.ts";
import type { MessageType } from "../../protobuf/message-type.ts";

/** Sixteen or more digits outside of quotes: a number that a double may not represent exactly. */
const longNumber = /[[:,]\s*-?\d{16}/;

/**
 * Maximum memory of parsed values per comma, colon and opening bracket, measured with bodies of empty objects, many short keys
 * and the like. With a reviver, the parser also keeps the source of each value.
 */
const bytesPerMark = 96;
const bytesPerMarkWithReviver = 320;

/**
 * @param heapBytes the memory that parsing can use. Parsing cannot be interrupted, and a heap overflow ends the process.
 * @throws AppError invalid_json, invalid_request or payload_too_large
 */
export function jsonToProtobuf(bytes: Uint8Array, type: MessageType, heapBytes = Number.POSITIVE_INFINITY): Buffer {
  const marks = heapBytes === Number.POSITIVE_INFINITY ? 0 : countMarks(bytes);
  requireRoom(bytes.length * 2 + marks * bytesPerMark, heapBytes);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
  const hasLongNumbers = longNumber.test(text);
  if (hasLongNumbers) requireRoom(bytes.length * 2 + marks * bytesPerMarkWithReviver, heapBytes);
  return encodeMessage(type, parse(text, hasLongNumbers));
}

function requireRoom(neededBytes: number, heapBytes: number): void {
  if (neededBytes <= heapBytes) return;
  throw new AppError("payload_too_large", "This JSON body needs too much memory; send smaller requests, or protobuf.");
}

/** Counts commas, colons and opening brackets, also inside of strings. */
function countMarks(bytes: Uint8Array): number {
  let marks = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (byte === 0x2c || byte === 0x3a || byte === 0x5b || byte === 0x7b) marks += 1;
  }
  return marks;
}

function parse(text: string, hasLongNumbers: boolean): unknown {
  if (text === "") throw new AppError("invalid_json", 'The body is empty; expected a JSON object, at least "{}".');
  try {
    return hasLongNumbers ? JSON.parse(text, keepLongIntegers) : JSON.parse(text);
  } catch (error) {
    const where = /at position \d+(?: \(line \d+ column \d+\))?/.exec(String(error))?.[0];
    const detail = where === undefined ? "" : `: unexpected text ${where}`;
    throw new AppError("invalid_json", `The body is not valid JSON${detail}.`, { cause: error });
  }
}

/** Keeps the digits of integers beyond 2^53. */
function keepLongIntegers(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value) || context?.source === undefined) return value;
  return /^-?\d+$/.test(context.source) ? context.source : value;
}

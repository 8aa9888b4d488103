/** An OTLP/JSON request as protobuf. Pure: it runs on the event loop for small bodies and in a worker for large ones. */
import { AppError } from "../../errors.ts";
import { encodeMessage } from "./encode-message.ts";
import type { MessageType } from "./message-type.ts";

/** Sixteen digits or more in a row, not in quotes: a number that a double may not hold exactly. */
const longNumber = /[[:,]\s*-?\d{16}/;

/** @throws AppError invalid_json or invalid_request */
export function jsonToProtobuf(bytes: Uint8Array, type: MessageType): Buffer {
  return encodeMessage(type, parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8")));
}

function parse(text: string): unknown {
  if (text === "") throw new AppError("invalid_json", 'The body is empty; expected a JSON object, at least "{}".');
  try {
    return longNumber.test(text) ? JSON.parse(text, keepLongIntegers) : JSON.parse(text);
  } catch (error) {
    const where = /at position \d+(?: \(line \d+ column \d+\))?/.exec(String(error))?.[0];
    const detail = where === undefined ? "" : `: unexpected text ${where}`;
    throw new AppError("invalid_json", `The body is not valid JSON${detail}.`, { cause: error });
  }
}

/** Integers beyond 2^53 stay the digits that they were written with. */
function keepLongIntegers(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value) || context?.source === undefined) return value;
  return /^-?\d+$/.test(context.source) ? context.source : value;
}

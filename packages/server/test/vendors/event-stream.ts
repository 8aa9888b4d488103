/** Amazon's binary event stream. https://docs.aws.amazon.com/transcribe/latest/dg/event-stream.html */
import { crc32 } from "node:zlib";

const stringType = 7;

function header(name: string, value: string): Buffer {
  const nameBytes = Buffer.from(name);
  const valueBytes = Buffer.from(value);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(valueBytes.length);
  return Buffer.concat([Buffer.from([nameBytes.length]), nameBytes, Buffer.from([stringType]), length, valueBytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

/** One frame: an event, or an exception, of this type with a JSON payload. */
export function frame(type: string, payload: unknown, kind: "event" | "exception" = "event"): Buffer {
  const headers = Buffer.concat([
    header(`:${kind}-type`, type),
    header(":content-type", "application/json"),
    header(":message-type", kind),
  ]);
  const body = Buffer.from(JSON.stringify(payload));
  const prelude = Buffer.concat([uint32(headers.length + body.length + 16), uint32(headers.length)]);
  const message = Buffer.concat([prelude, uint32(crc32(prelude)), headers, body]);
  return Buffer.concat([message, uint32(crc32(message))]);
}

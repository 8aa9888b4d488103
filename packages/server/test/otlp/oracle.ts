/** An independent encoder and decoder of OTLP: protobufjs with the public definitions. */
import { readFileSync } from "node:fs";
import protobuf from "protobufjs";

const { root } = protobuf.parse(readFileSync(new URL("otlp.proto", import.meta.url), "utf8"), { keepCase: false });

export function encode(type: string, value: object): Uint8Array {
  const message = root.lookupType(type);
  return message.encode(message.fromObject(value)).finish();
}

/** 64-bit integers as text, bytes as base64. */
export function decode(type: string, bytes: Uint8Array): Record<string, unknown> {
  const message = root.lookupType(type);
  return message.toObject(message.decode(bytes), { longs: String, bytes: String });
}

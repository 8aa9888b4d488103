/** Encodes a chat completion request for one of the contenders. */
import type { Contender } from "./contenders.ts";
import { requestBody } from "./wire.ts";

/** Head and body; `body` replaces the usual small one. */
export function chatRequest(
  contender: Contender,
  mode: string,
  body = requestBody(contender.model(mode), { stream: mode !== "batch" }),
): Buffer {
  const headers = { host: "127.0.0.1", "content-type": "application/json", ...contender.headers(mode) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(
    `POST ${contender.path(mode)} HTTP/1.1\r\n${lines.join("")}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

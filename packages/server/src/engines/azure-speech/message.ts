/**
 * Reads and writes messages of the speech service's WebSocket: headers and a body, as text, or as bytes prefixed with the
 * length of the headers. https://github.com/microsoft/cognitive-services-speech-sdk-js, WebsocketMessageFormatter.ts
 */
import { AppError } from "../../errors.ts";

export interface SpeechMessage {
  /** Lower case, such as `turn.end`. */
  readonly path: string;
  /** Upper case; empty when the message has none. */
  readonly requestId: string;
  readonly body: Buffer;
}

interface OutgoingMessage {
  readonly path: string;
  readonly requestId: string;
  readonly contentType: string;
  readonly body: string;
}

export function writeMessage({ path, requestId, contentType, body }: OutgoingMessage): string {
  const headers = [
    `Path: ${path}`,
    `X-RequestId: ${requestId}`,
    `X-Timestamp: ${new Date().toISOString()}`,
    `Content-Type: ${contentType}`,
  ];
  return `${headers.join("\r\n")}\r\n\r\n${body}`;
}

/** @throws AppError upstream_failed for an invalid message */
export function readMessage(data: string | ArrayBuffer): SpeechMessage {
  if (typeof data === "string") {
    const end = data.indexOf("\r\n\r\n");
    if (end === -1) throw malformedMessage("its headers are incomplete");
    return withHeaders(data.slice(0, end), Buffer.from(data.slice(end + 4)));
  }
  const bytes = Buffer.from(data);
  if (bytes.length < 2 || bytes.length < 2 + bytes.readUInt16BE(0))
    throw malformedMessage("it is shorter than its headers");
  const end = 2 + bytes.readUInt16BE(0);
  return withHeaders(bytes.toString("latin1", 2, end), bytes.subarray(end));
}

function withHeaders(text: string, body: Buffer): SpeechMessage {
  const headers = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  const path = headers.get("path");
  if (path === undefined) throw malformedMessage("it has no path");
  return { path: path.toLowerCase(), requestId: (headers.get("x-requestid") ?? "").toUpperCase(), body };
}

export function malformedMessage(why: string, cause?: unknown): AppError {
  return new AppError("upstream_failed", `The engine sent an invalid message: ${why}.`, { cause });
}

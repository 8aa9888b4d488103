/**
 * HTTP requests as bytes, the input of a served target: a head, an empty line, a body. `{key}`, `{admin}` and
 * `{boundary}` in the head are replaced when the request is sent.
 */
import { gzipSync } from "node:zlib";
import { hostileString } from "./hostile-values.ts";
import type { Random } from "./random.ts";

export interface HttpMessage {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

const latin1 = (text: string): string => text.replaceAll(/[^\x20-\x7e\x80-\xff\t]/g, "?");

/** The bytes of the request, with its content length unless a header says otherwise. */
export function writeMessage({ method, path, headers, body }: HttpMessage): Buffer {
  const own = headers.some(([name]) => /^(?:content-length|transfer-encoding)$/i.test(name));
  const all =
    body.length === 0 && method === "GET"
      ? headers
      : own
        ? headers
        : [...headers, ["content-length", String(body.length)]];
  const lines = [
    `${method} ${path} HTTP/1.1`,
    "host: fuzz",
    ...all.map(([name, value]) => `${name}: ${latin1(value)}`),
  ];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), body]);
}

/** @throws Error if the bytes are not such a request */
export function readMessage(bytes: Uint8Array): HttpMessage {
  const whole = Buffer.from(bytes);
  const end = whole.indexOf("\r\n\r\n");
  const [first = "", ...lines] = whole.toString("latin1", 0, end === -1 ? whole.length : end).split("\r\n");
  const [method = "", path = ""] = first.split(" ");
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return { method, path, headers, body: end === -1 ? Buffer.alloc(0) : whole.subarray(end + 4) };
}

/** The bytes with the head's placeholders replaced. */
export function fillPlaceholders(bytes: Uint8Array, values: Readonly<Record<string, string>>): Buffer {
  const whole = Buffer.from(bytes);
  const end = whole.indexOf("\r\n\r\n");
  const headEnd = end === -1 ? whole.length : end;
  const head = whole
    .toString("latin1", 0, headEnd)
    .replaceAll(/\{(\w+)\}/g, (text, name: string) => values[name] ?? text);
  return Buffer.concat([Buffer.from(head, "latin1"), whole.subarray(headEnd)]);
}

type Header = readonly [name: string, value: string];

/** Headers as callers send them; sometimes missing, odd, or hostile. */
export function requestHeaders(random: Random, contentType: string | undefined, key = "{key}"): Header[] {
  const headers: Header[] = [];
  if (random.chance(0.96)) headers.push(["authorization", `Bearer ${key}`]);
  else if (random.chance(0.7))
    headers.push([
      "authorization",
      random.pick([
        "Bearer ",
        "Basic Zm9vOmJhcg==",
        "Bearer sk-unknown",
        `Bearer ${"k".repeat(5000)}`,
        hostileString(random, 200),
      ]),
    ]);
  if (contentType !== undefined && random.chance(0.97)) headers.push(["content-type", contentType]);
  else if (random.chance(0.5))
    headers.push([
      "content-type",
      random.pick(["text/plain", "application/json; charset=utf-16", "*/*", "", hostileString(random, 200)]),
    ]);
  for (const name of [
    "x-account",
    "x-project",
    "x-request-id",
    "traceparent",
    "tracestate",
    "accept",
    "user-agent",
    "idempotency-key",
    "origin",
  ]) {
    if (random.chance(0.015)) headers.push([name, hostileString(random, 500)]);
  }
  return headers;
}

/** The body, sometimes compressed, sometimes falsely declared so. */
export function encodeBody(random: Random, headers: Header[], body: Buffer): Buffer {
  if (!random.chance(0.06)) return body;
  headers.push(["content-encoding", random.pick(["gzip", "gzip", "gzip", "GZIP", "identity", "br", "gzip, gzip"])]);
  if (random.chance(0.2)) return body;
  const zipped = gzipSync(body);
  return random.chance(0.2) ? zipped.subarray(0, random.below(zipped.length)) : zipped;
}

/** The text in a URL: encoded, or raw as far as a request line allows. */
export function inUrl(random: Random, text: string): string {
  if (random.chance(0.9)) return encodeURIComponent(text.toWellFormed());
  return text.replaceAll(/[^\x21-\x7e]|[?#]/g, "");
}

/**
 * Finds ambiguous framing, which a proxy in front may read differently (request smuggling): repeated headers that must
 * be unique, transfer codings other than chunked, and a missing Host. https://www.rfc-editor.org/rfc/rfc9112#section-11.2
 */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { AppError } from "../errors.ts";

/** Headers that must be unique. Of several, Node keeps the first or joins them. */
const singleHeaders = new Set([
  "api-key",
  "x-api-key",
  "authorization",
  "content-encoding",
  "content-length",
  "content-type",
  "host",
  "transfer-encoding",
  "x-account",
  "x-project",
  "x-request-id",
]);
const watchedLengths = new Set([...singleHeaders].map(({ length }) => length));

/** The error to send, if the request's headers are ambiguous. */
export function findFramingError({ headers, httpVersion, rawHeaders }: IncomingMessage): AppError | undefined {
  // As many names as headers: none is repeated.
  const repeated = countOf(headers) * 2 === rawHeaders.length ? undefined : findRepeated(rawHeaders);
  if (repeated !== undefined) {
    return new AppError("invalid_request", `The header ${repeated} is sent more than once; send it once.`, {
      param: repeated,
    });
  }
  if (headers.host === undefined && httpVersion === "1.1") {
    return new AppError("invalid_request", "The header host is missing; HTTP/1.1 requires it.", { param: "host" });
  }
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && coding.trim().toLowerCase() !== "chunked")
    return unsupported("transfer-encoding", coding);
  // "chunked" must not be listed in TE: https://www.rfc-editor.org/rfc/rfc9110#section-10.1.4
  const accepted = headers["te"];
  if (typeof accepted === "string" && /\bchunked\b/i.test(accepted)) return unsupported("te", accepted);
  return undefined;
}

function countOf(headers: IncomingHttpHeaders): number {
  let count = 0;
  for (const _name in headers) count += 1;
  return count;
}

function findRepeated(rawHeaders: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const raw = rawHeaders[index]!;
    if (!watchedLengths.has(raw.length)) continue;
    const name = raw.toLowerCase();
    if (!singleHeaders.has(name)) continue;
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}

function unsupported(name: string, value: string): AppError {
  const allowed = name === "te" ? "no transfer coding, or trailers" : "chunked";
  return new AppError(
    "invalid_request",
    `The header ${name} is ${JSON.stringify(value.slice(0, 100))}; expected ${allowed}. Compress bodies with content-encoding: gzip.`,
    { param: name },
  );
}

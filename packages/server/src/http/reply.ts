/** Writes whole answers: JSON, text, nothing, and errors. */
import type { ServerResponse } from "node:http";
import { toErrorBody, errorTable, type AppError } from "../errors.ts";
import type { AnswerHeaders, ErrorWriter } from "./route.ts";

export function replyJson(response: ServerResponse, status: number, value: unknown, headers?: AnswerHeaders): void {
  replyText(response, status, { text: JSON.stringify(value), type: "application/json" }, headers);
}

export function replyText(
  response: ServerResponse,
  status: number,
  content: { text: string; type: string },
  headers?: AnswerHeaders,
): void {
  replyBytes(response, status, { bytes: Buffer.from(content.text), type: content.type }, headers);
}

export function replyBytes(
  response: ServerResponse,
  status: number,
  { bytes, type }: { readonly bytes: Uint8Array; readonly type: string },
  headers?: AnswerHeaders,
): void {
  response.writeHead(status, { "content-type": type, "content-length": bytes.length, ...headers });
  response.end(bytes);
}

export function replyEmpty(response: ServerResponse, status: number, headers?: AnswerHeaders): void {
  response.writeHead(status, headers);
  response.end();
}

/**
 * The error with its status and the headers that tell a client what to do: wait, retry, authenticate.
 * @param write the dialect of the operation's protocol; absent: OpenAI's error object
 */
export function replyError(
  response: ServerResponse,
  error: AppError,
  { headers, write }: { readonly headers?: AnswerHeaders; readonly write?: ErrorWriter | undefined } = {},
): void {
  const allHeaders = { ...headers, ...error.headers, ...errorHeaders(error) };
  if (write === undefined) return replyJson(response, error.status, toErrorBody(error), allHeaders);
  replyBytes(response, error.status, write(error, response.req.headers["content-type"]), allHeaders);
}

function errorHeaders(error: AppError): AnswerHeaders {
  const waits = error.status === 429 || error.status === 503;
  const waitMs = error.retryAfterMs ?? (waits && errorTable[error.code].retryable ? 1000 : undefined);
  return {
    ...(waitMs === undefined
      ? {}
      : { "retry-after": String(Math.ceil(waitMs / 1000)), "retry-after-ms": String(Math.ceil(waitMs)) }),
    ...(error.status === 401 ? { "www-authenticate": "Bearer" } : {}),
    // OpenAI's clients obey this before they look at the status.
    "x-should-retry": String(errorTable[error.code].retryable),
    ...(error.status === 413 || error.status === 408 ? { connection: "close" } : {}),
  };
}

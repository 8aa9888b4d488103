/** Writes whole answers: JSON, text, nothing, and errors. */
import type { ServerResponse } from "node:http";
import { errorTable, retryAfterMs, toErrorBody, type AppError } from "../errors.ts";
import type { ResponseHeaders, ErrorWriter } from "./route.ts";
import { discardUnreadBody } from "./unread-body.ts";

/**
 * Where an answer goes. The headers of every answer wait here for `writeHead`, since `setHeader` before it takes a slow
 * way; with the body as text this saves 6 µs of 29 an answer.
 */
export interface ResponseTarget {
  readonly response: ServerResponse;
  readonly responseHeaders: ResponseHeaders;
}

export function replyJson(target: ResponseTarget, status: number, value: unknown, headers?: ResponseHeaders): void {
  replyText(target, status, { text: JSON.stringify(value), type: "application/json" }, headers);
}

export function replyText(
  { response, responseHeaders: answerHeaders }: ResponseTarget,
  status: number,
  { text, type }: { readonly text: string; readonly type: string },
  headers?: ResponseHeaders,
): void {
  const length = Buffer.byteLength(text);
  response.writeHead(status, { ...answerHeaders, "content-type": type, "content-length": length, ...headers });
  // As text, which Node joins with the head; a buffer would be a piece of its own.
  response.end(text);
}

export function replyBytes(
  { response, responseHeaders: answerHeaders }: ResponseTarget,
  status: number,
  { bytes, type }: { readonly bytes: Uint8Array; readonly type: string },
  headers?: ResponseHeaders,
): void {
  response.writeHead(status, {
    ...answerHeaders,
    "content-type": type,
    "content-length": bytes.length,
    ...headers,
  });
  response.end(bytes);
}

export function replyEmpty(
  { response, responseHeaders: answerHeaders }: ResponseTarget,
  status: number,
  headers?: ResponseHeaders,
): void {
  response.writeHead(status, { ...answerHeaders, ...headers });
  response.end();
}

/**
 * The error with its status and the headers that tell a client what to do: wait, retry, authenticate.
 * @param write the dialect of the operation's protocol; absent: OpenAI's error object
 */
export function replyError(
  target: ResponseTarget,
  error: AppError,
  { headers, write }: { readonly headers?: ResponseHeaders; readonly write?: ErrorWriter | undefined } = {},
): void {
  const closes = discardUnreadBody(target.response.req, target.response);
  const allHeaders = {
    ...headers,
    ...error.headers,
    ...errorHeaders(error),
    ...(closes ? { connection: "close" } : {}),
  };
  if (write === undefined) return replyJson(target, error.status, toErrorBody(error), allHeaders);
  replyBytes(target, error.status, write(error, target.response.req.headers["content-type"]), allHeaders);
}

function errorHeaders(error: AppError): ResponseHeaders {
  const waitMs = retryAfterMs(error);
  return {
    ...(waitMs === undefined
      ? {}
      : { "retry-after": String(Math.ceil(waitMs / 1000)), "retry-after-ms": String(Math.ceil(waitMs)) }),
    ...(error.status === 401 ? { "www-authenticate": "Bearer" } : {}),
    // OpenAI's clients obey this before they look at the status.
    "x-should-retry": String(errorTable[error.code].retryable),
    ...(error.status === 408 ? { connection: "close" } : {}),
  };
}

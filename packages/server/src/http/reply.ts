/** Writes whole answers: JSON, text, nothing, and errors. */
import type { ServerResponse } from "node:http";
import { toErrorBody, errorTable, type AppError } from "../errors.ts";
import type { AnswerHeaders } from "./route.ts";

export function replyJson(response: ServerResponse, status: number, value: unknown, headers?: AnswerHeaders): void {
  replyText(response, status, { text: JSON.stringify(value), type: "application/json" }, headers);
}

export function replyText(
  response: ServerResponse,
  status: number,
  content: { text: string; type: string },
  headers?: AnswerHeaders,
): void {
  const bytes = Buffer.from(content.text);
  response.writeHead(status, { "content-type": content.type, "content-length": bytes.length, ...headers });
  response.end(bytes);
}

export function replyEmpty(response: ServerResponse, status: number, headers?: AnswerHeaders): void {
  response.writeHead(status, headers);
  response.end();
}

/** The error with its status and the headers that tell a client what to do: wait, retry, authenticate. */
export function replyError(response: ServerResponse, error: AppError, headers?: AnswerHeaders): void {
  replyJson(response, error.status, toErrorBody(error), { ...headers, ...error.headers, ...errorHeaders(error) });
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

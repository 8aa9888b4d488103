/**
 * Defines the server's error class and the table of error codes; a code determines the HTTP status and the type on the wire.
 * Errors of other software are wrapped where they enter. An unknown error becomes `internal`: logged, never returned to the
 * caller.
 *
 * The body's shape is OpenAI's: https://platform.openai.com/docs/guides/error-codes
 * docs/adr/0002-contract-and-http-server.md
 */

import { QueryError } from "@sounding/promql/query-error";
import { errorTable, type ErrorCode } from "./error-codes.ts";

export { errorTable, type ErrorCode } from "./error-codes.ts";

interface AppErrorDetails {
  /** The field that is wrong, as the caller writes it, for example `messages[0].role`. */
  readonly param?: string | undefined;
  readonly cause?: unknown;
  readonly retryAfterMs?: number | undefined;
  /** Replaces the table's wire code, for example with the upstream's code. */
  readonly wireCode?: string | undefined;
  /** Additional response headers, such as those of rate limits. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The HTTP status with which the engine refused the call. It is recorded in telemetry. */
  readonly upstreamStatus?: number | undefined;
  /** Whether the same request fails in the same place in the same way until the operator changes something there. */
  readonly lasting?: boolean | undefined;
  /** Whether the engine is well and only has as many calls as it takes. */
  readonly full?: boolean | undefined;
}

/** The only error that the server throws deliberately. Callers see `message`. */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly code: ErrorCode;
  readonly param: string | null;
  readonly retryAfterMs: number | undefined;
  readonly wireCode: string | null;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly upstreamStatus: number | undefined;
  readonly lasting: boolean;
  readonly full: boolean;

  constructor(code: ErrorCode, message: string, details: AppErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.param = details.param ?? null;
    this.retryAfterMs = details.retryAfterMs;
    this.wireCode = details.wireCode ?? errorTable[code].code;
    this.headers = details.headers;
    this.upstreamStatus = details.upstreamStatus;
    this.lasting = details.lasting === true;
    this.full = details.full === true;
  }

  get status(): number {
    return errorTable[this.code].status;
  }
}

/** When to retry if nothing better is known. */
export const defaultRetryAfterMs = 1_000;

/** When the caller may retry: the error's own time, else the default where waiting can help; undefined: not at all. */
export function retryAfterMs(error: AppError): number | undefined {
  if (error.retryAfterMs !== undefined) return error.retryAfterMs;
  const waits = error.status === 429 || error.status === 503;
  return waits && errorTable[error.code].retryable ? defaultRetryAfterMs : undefined;
}

/** The request's own `timeout` elapsed. A retry would take as long. */
export function requestTimedOut(timeoutMs: number): AppError {
  return new AppError(
    "timeout",
    `The request's timeout of ${timeoutMs / 1_000} s elapsed. Increase \`timeout\`, or omit it.`,
    { param: "timeout", headers: { "x-should-retry": "false" } },
  );
}

/** The error as OpenAI's error object. */
export interface ErrorBody {
  error: { message: string; type: string; param: string | null; code: string | null };
}

export function toErrorBody({ code, message, param, wireCode }: AppError): ErrorBody {
  return { error: { message, type: errorTable[code].type, param, code: wireCode } };
}

/**
 * Converts any thrown value to an AppError: the query languages' own errors keep their code, message and parameter; an
 * unknown error becomes `internal`, with the original as its cause.
 */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof QueryError) {
    const { code, message, param } = thrown;
    return new AppError(code, message, { param });
  }
  return new AppError(
    "internal",
    "An internal error occurred. The server's log has the details under the request ID.",
    { cause: thrown },
  );
}

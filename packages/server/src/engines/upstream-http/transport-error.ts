/**
 * Turns failures between the server and an engine into `AppError`s. upstream-error.ts does so for the engine's own errors.
 */
import { AppError, defaultRetryAfterMs } from "../../errors.ts";

/** Messages for undici's and Node's error codes. https://undici.nodejs.org/#/docs/api/Errors */
const messages: Readonly<Record<string, string>> = {
  ECONNREFUSED: "The engine could not be reached: it refused the connection.",
  ENOTFOUND: "The engine could not be reached: its host name is unknown.",
  EAI_AGAIN: "The engine could not be reached: its host name could not be resolved.",
  EHOSTUNREACH: "The engine could not be reached: there is no route to its host.",
  ENETUNREACH: "The engine could not be reached: there is no route to its network.",
  ECONNRESET: "The engine reset the connection.",
  EPIPE: "The engine reset the connection.",
  ERR_SSL_WRONG_VERSION_NUMBER:
    "The engine's port does not speak TLS; its base_url may need http:// instead of https://.",
  UND_ERR_SOCKET: "The engine closed the connection before its response was complete.",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "The engine's response was shorter or longer than its declared length.",
  UND_ERR_HEADERS_OVERFLOW: "The engine's response had too many headers.",
};

/** The `AppError` of a transport error; an `AppError` passes through. */
export function toTransportError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const code = codeOf(error);
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT") {
    return new AppError("upstream_timeout", "The engine did not accept a connection in time.", { cause: error });
  }
  if (code === "UND_ERR_DESTROYED" || code === "UND_ERR_CLOSED") return engineClosing(error);
  return new AppError("upstream_failed", messages[code] ?? otherMessage(error, code), { cause: error });
}

function otherMessage(error: unknown, code: string): string {
  if (error instanceof Error && error.name === "HTTPParserError") return "The engine's response is not valid HTTP.";
  if (/CERT|SELF_SIGNED|ERR_TLS|UNABLE_TO/.test(code)) return "The engine's TLS certificate was not accepted.";
  if (code.startsWith("ERR_SSL")) return "The TLS handshake with the engine failed.";
  return "The connection to the engine failed.";
}

/** The engine takes no further calls because its configuration changed or the server stops. */
export function engineClosing(cause?: unknown): AppError {
  return new AppError("overloaded", "The engine is being closed. Retry later.", {
    retryAfterMs: defaultRetryAfterMs,
    cause,
  });
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if ("code" in error && typeof error.code === "string") return error.code;
  // Happy Eyeballs reports all its attempts in one.
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return error.cause === undefined ? "" : codeOf(error.cause);
}

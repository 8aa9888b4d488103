/**
 * Turns an engine's error responses into `AppError`s. Errors that callers can fix keep the engine's message. Errors for the
 * operator do not, because it may reveal keys, hosts and accounts.
 */
import { AppError, type ErrorCode } from "../../errors.ts";
import { redactText } from "../../logger.ts";
import type { ResponseHeaders } from "./response-reader.ts";
import { isObject, nonEmptyText, type JsonObject } from "../../json-object.ts";
import { withoutByteOrderMark } from "./byte-order-mark.ts";
import { retryAfterMs } from "./retry-after.ts";

/** A response with an error status. */
export interface ErrorResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** The beginning of the body. */
  readonly text: string;
}

/** The engine's error. */
interface ErrorDetails {
  readonly message: string | undefined;
  readonly type: string | undefined;
  readonly param: string | undefined;
  readonly code: string | undefined;
  readonly status: number | undefined;
}

const longestMessage = 2_000;
const contextLength =
  /maximum context length|context[ _](?:length|size|window)|exceed\w* (?:the )?(?:available |model's |maximum )?context|prompt is too long|too many (?:input )?tokens/i;
/** How OpenAI, Azure and compatible APIs name a refused prompt. */
const filteredContent = /content_filter|content_policy_violation|ResponsibleAIPolicyViolation/;
const exhaustedAccount = /insufficient_quota|insufficient_credits|billing/i;

/** The error of a response with status 300 or more. */
export function responseError(answer: ErrorResponse): AppError {
  const body = parse(answer.text);
  return toError(readErrorDetails(body, answer.text), {
    status: answer.status,
    retryAfterMs: retryAfterMs({ ...answer, body }, Date.now()),
    text: answer.text,
  });
}

/**
 * The error in an event, or in a response with status 200; undefined if there is none.
 * Known forms: `{"error": …}` (OpenAI, OpenRouter, llama-server, Ollama), `{"object": "error", …}` (vLLM before 0.10).
 */
export function embeddedError(value: JsonObject): AppError | undefined {
  if (isNone(value["error"]) && value["object"] !== "error") return undefined;
  const complaint = readErrorDetails(value, "");
  const status = complaint.status ?? statusOfType(complaint.type ?? complaint.code ?? "");
  return toError(complaint, { status, retryAfterMs: undefined, text: JSON.stringify(value) });
}

/** Some engines have the member in every answer, without an error in it. */
function isNone(error: unknown): boolean {
  return error == null || error === "" || error === false || (isObject(error) && Object.keys(error).length === 0);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(withoutByteOrderMark(text));
  } catch {
    return undefined;
  }
}

/** Parses the known forms: OpenAI's, a bare text under `error`, vLLM's flat one, FastAPI's `detail`, Azure's gateway. */
function readErrorDetails(value: unknown, text: string): ErrorDetails {
  const outer = Array.isArray(value) && isObject(value[0]) ? value[0] : isObject(value) ? value : {};
  const inner = isObject(outer["error"]) ? outer["error"] : outer;
  const detail = outer["detail"];
  const code = inner["code"] ?? outer["code"];
  const message =
    nonEmptyText(inner["message"]) ??
    nonEmptyText(outer["error"]) ??
    nonEmptyText(outer["message"]) ??
    (detail == null ? undefined : (nonEmptyText(detail) ?? JSON.stringify(detail))) ??
    (value === undefined && !/^\s*</.test(text) ? nonEmptyText(text.trim()) : undefined);
  return {
    message: message === undefined ? undefined : redactText(message.slice(0, longestMessage).toWellFormed()),
    type: nonEmptyText(inner["type"]),
    param: nonEmptyText(inner["param"]),
    code: nonEmptyText(code),
    status: [inner["status"], inner["status_code"], inner["http_status"], code]
      .map(Number)
      .find((number) => Number.isInteger(number) && number >= 300 && number < 600),
  };
}

/** The status of an error without one, from its type or code. */
function statusOfType(type: string): number {
  if (/rate_limit|too_many/i.test(type)) return 429;
  if (/overloaded|unavailable/i.test(type)) return 503;
  if (/invalid_request|BadRequest|context_length|content_filter|unsupported/i.test(type)) return 400;
  if (/not_?found/i.test(type)) return 404;
  return 500;
}

interface ResponseContext {
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  readonly text: string;
}

function toError(complaint: ErrorDetails, circumstances: ResponseContext): AppError {
  const { status } = circumstances;
  const words = `${complaint.type ?? ""} ${complaint.code ?? ""}`;
  const ours = (code: ErrorCode, message: string): AppError =>
    new AppError(code, message, {
      retryAfterMs: circumstances.retryAfterMs,
      upstreamStatus: status,
      cause: new Error(`HTTP ${status}: ${redactText(circumstances.text.slice(0, longestMessage).toWellFormed())}`),
    });
  if (status === 401 || status === 403) return ours("upstream_failed", "The engine rejected its credentials.");
  if (status === 402 || (status === 429 && exhaustedAccount.test(words))) {
    return ours("upstream_failed", "The account at the engine has no credit left.");
  }
  if (status === 429) return ours("rate_limited", "The engine's rate limit is reached. Retry later.");
  if (status === 503 || status === 529) return ours("overloaded", "The engine is overloaded. Retry later.");
  if (status >= 500 || status === 408) return ours("upstream_failed", `The engine failed with HTTP status ${status}.`);
  if (status < 400) return ours("upstream_failed", `The engine responded with HTTP status ${status}.`);
  if (status === 404 && complaint.message === undefined) {
    return ours("upstream_failed", "The engine does not have this path; check its base_url.");
  }
  return callerError(complaint, status);
}

/** Status 400, 404, 413, 422 and the like: the caller can fix these, so the engine's message is passed on. */
function callerError(complaint: ErrorDetails, status: number): AppError {
  const upstreamStatus = status;
  const { param, code, type } = complaint;
  const message = complaint.message ?? `The engine refused the request with HTTP status ${status}.`;
  const words = `${type ?? ""} ${code ?? ""}`;
  if (/context_(?:length|size)/i.test(words) || (code === undefined && contextLength.test(message))) {
    return new AppError("context_length_exceeded", message, { param: param ?? "messages", upstreamStatus });
  }
  if (status === 404 && /model|deployment/i.test(`${words} ${message}`) && !/support/i.test(message)) {
    return new AppError("model_not_found", message, { param: param ?? "model", upstreamStatus });
  }
  if (status === 413) return new AppError("payload_too_large", message, { param, upstreamStatus });
  if (filteredContent.test(words)) return new AppError("content_filter", message, { param, upstreamStatus });
  if (code === "unsupported_parameter")
    return new AppError("unsupported_parameter", message, { param, upstreamStatus });
  return new AppError("invalid_request", message, { param, wireCode: code, upstreamStatus });
}

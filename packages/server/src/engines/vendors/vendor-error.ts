/** Turns a vendor's failures into `AppError`s. Foreign errors enter only here. */
import { APICallError, UnsupportedFunctionalityError } from "@ai-sdk/provider";
import { AppError, type ErrorCode } from "../../errors.ts";
import { redactText } from "../../logger.ts";
import { retryAfterMs } from "../upstream-http/retry-after.ts";
import { isObject } from "../../json-object.ts";
import type { Vendor } from "./vendor.ts";

const longestMessage = 500;

/** A vendor's words without the operator's secrets. */
function withoutSecrets(text: string, vendor: Vendor): string {
  let clean = redactText(text);
  for (const secret of vendor.secrets) clean = clean.replaceAll(secret, "[redacted]");
  return clean.length > longestMessage ? `${clean.slice(0, longestMessage)}…` : clean;
}

const contextLength =
  /prompt is too long|context (length|window|limit)|maximum context|too many (input |total )?tokens|input (token count|is too long)|exceeds? the (maximum|model's).{0,30}tokens/i;

/** Google answers 400 for a key that it does not know. */
const badCredentials = /API_KEY_INVALID|API key not valid|API key expired/;

interface VendorAnswer {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The body's JSON, if it is any. */
  readonly body?: unknown;
  readonly cause: unknown;
}

function toCode(status: number, message: string): ErrorCode {
  if (status === 408 || status === 504) return "upstream_timeout";
  if (status === 429) return "rate_limited";
  if (status === 503 || status === 529) return "overloaded";
  if (status === 404) return "model_not_found";
  if (status === 409 || status === 424 || status >= 500 || status < 400) return "upstream_failed";
  return contextLength.test(message) ? "context_length_exceeded" : "invalid_request";
}

function toStatusFailure({ status, message, headers = {}, body, cause }: VendorAnswer, vendor: Vendor): AppError {
  const refused = status === 401 || status === 403 || badCredentials.test(message);
  if (refused) {
    const text = `${vendor.label} rejected this server's credentials (status ${status}).`;
    return new AppError("upstream_failed", text, { cause: toCause(cause, vendor) });
  }
  const text = `${vendor.label} answered ${status}: ${withoutSecrets(message, vendor)}`;
  return new AppError(toCode(status, message), text, {
    cause: toCause(cause, vendor),
    retryAfterMs: retryAfterMs({ status, headers, body }, Date.now()),
  });
}

function causes(thrown: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let each = thrown; each instanceof Error && chain.length < 10; each = each.cause) chain.push(each);
  return chain;
}

/**
 * The cause for the log: what was thrown, without secrets, and cut, since adapters put whole answers into their
 * messages.
 */
function toCause(thrown: unknown, vendor: Vendor): Error {
  if (!(thrown instanceof Error)) return new Error(withoutSecrets(JSON.stringify(thrown) ?? String(thrown), vendor));
  const inner = thrown.cause instanceof Error ? { cause: toCause(thrown.cause, vendor) } : {};
  const cause = new Error(withoutSecrets(thrown.message, vendor), inner);
  cause.name = thrown.name;
  return cause;
}

/** Codes of zlib's failures. */
const decompression = /^(?:Z_|ERR__)/;

const codeOf = (error: unknown): unknown => (isObject(error) ? error["code"] : undefined);

function toTransportFailure(thrown: unknown, vendor: Vendor): AppError {
  const codes = causes(thrown).map(codeOf);
  if (codes.some((code) => code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT")) {
    return new AppError("upstream_timeout", `${vendor.label} did not accept a connection in time.`, {
      cause: toCause(thrown, vendor),
    });
  }
  const code = codes.find((each) => typeof each === "string");
  const detail =
    code === undefined || decompression.test(code) ? "sent an invalid response." : `could not be reached (${code}).`;
  return new AppError("upstream_failed", `${vendor.label} ${detail}`, { cause: toCause(thrown, vendor) });
}

/** The body of an error that the adapter could not read; not the page of some proxy. */
function readable(body: string | undefined): string {
  const text = body?.trim() ?? "";
  return text === "" || text.startsWith("<") ? "no explanation" : text;
}

function parsed(body: string | undefined): unknown {
  try {
    return JSON.parse(body ?? "");
  } catch {
    return undefined;
  }
}

/** The status and words of an error that the vendor sent, over HTTP or inside a stream. */
function toVendorAnswer(thrown: unknown): VendorAnswer | undefined {
  if (APICallError.isInstance(thrown)) {
    const { statusCode, message, responseHeaders, responseBody } = thrown;
    if (statusCode === undefined || (statusCode >= 200 && statusCode < 300)) return undefined;
    const known = message === "" ? readable(responseBody) : message;
    const text = badCredentials.test(responseBody ?? "") ? `${known} API_KEY_INVALID` : known;
    return { status: statusCode, message: text, headers: responseHeaders, body: parsed(responseBody), cause: thrown };
  }
  if (isObject(thrown) && !(thrown instanceof Error) && typeof thrown["message"] === "string") {
    const status = typeof thrown["statusCode"] === "number" ? thrown["statusCode"] : 502;
    return { status, message: thrown["message"], cause: thrown };
  }
  return undefined;
}

/** The `AppError` of an adapter's exception or of a stream's `error` part. */
export function toVendorError(thrown: unknown, vendor: Vendor): AppError {
  const own = causes(thrown).find((each) => each instanceof AppError);
  if (own !== undefined) return own;
  if (UnsupportedFunctionalityError.isInstance(thrown)) {
    const text = `${vendor.label} does not support these messages: ${thrown.functionality}.`;
    return new AppError("unsupported_parameter", text, { param: "messages", cause: toCause(thrown, vendor) });
  }
  const answer = toVendorAnswer(thrown);
  return answer === undefined ? toTransportFailure(thrown, vendor) : toStatusFailure(answer, vendor);
}

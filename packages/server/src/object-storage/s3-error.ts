/** Errors of S3-compatible storage: what the server answered, whether another attempt may help, and the message for the caller. */
import { AppError, type ErrorCode } from "../errors.ts";
import { parseXml, textOf } from "./xml.ts";

interface S3ErrorDetails {
  /** 0 if no response arrived. */
  readonly status: number;
  /** S3's code, such as `NoSuchBucket`; empty if the response has none. */
  readonly code: string;
  readonly passing: boolean;
  /** How long the server wants us to wait. */
  readonly retryAfterMs?: number | undefined;
  /** The bucket's region, if it is another one. */
  readonly region?: string | undefined;
  readonly cause?: unknown;
}

/** One attempt failed. The message says what happened, without a full stop. */
export class S3Error extends Error {
  override readonly name = "S3Error";
  readonly status: number;
  readonly code: string;
  readonly passing: boolean;
  readonly retryAfterMs: number | undefined;
  readonly region: string | undefined;

  constructor(message: string, { cause, code, passing, region, retryAfterMs, status }: S3ErrorDetails) {
    super(message, { cause });
    this.status = status;
    this.code = code;
    this.passing = passing;
    this.region = region;
    this.retryAfterMs = retryAfterMs;
  }
}

const passingStatuses: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504, 509]);
/** Errors with a status of the 400s that another attempt may not meet: bytes damaged on the way, slow connections, races. */
const passingCodes: ReadonlySet<string> = new Set([
  "BadDigest",
  "ConditionalRequestConflict",
  "IncompleteBody",
  "InternalError",
  "InvalidDigest",
  "OperationAborted",
  "RequestTimeout",
  "ServiceUnavailable",
  "SlowDown",
  "Throttling",
  "ThrottlingException",
  "XAmzContentSHA256Mismatch",
]);
const maximumTextLength = 300;

export interface S3ErrorResponse {
  readonly status: number;
  readonly body: string;
  readonly region: string | undefined;
  readonly retryAfterMs: number | undefined;
}

export function toS3Error({ body, region: regionHeader, retryAfterMs, status }: S3ErrorResponse): S3Error {
  const { code, message, region } = readBody(body);
  const text = [code, message]
    .filter((part) => part !== "")
    .join(": ")
    .slice(0, maximumTextLength);
  return new S3Error(text === "" ? `HTTP status ${status}` : `HTTP status ${status}, ${text}`.replace(/[.\s]+$/, ""), {
    status,
    code,
    passing: passingStatuses.has(status) || passingCodes.has(code),
    region: region ?? regionHeader,
    retryAfterMs,
  });
}

/** Proxies answer with HTML or text. */
function readBody(body: string): { code: string; message: string; region: string | undefined } {
  try {
    const root = parseXml(body);
    if (root.name === "Error") {
      const code = (textOf(root, "Code") ?? "").replaceAll(/\W/g, "");
      return { code, message: oneLine(textOf(root, "Message") ?? ""), region: textOf(root, "Region") };
    }
  } catch {
    // Not S3's own error.
  }
  return { code: "", message: oneLine(body.replaceAll(/<[^>]*>/g, " ")), region: undefined };
}

function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
}

const errorCodes: Readonly<Record<number, ErrorCode>> = {
  0: "upstream_failed",
  403: "permission_denied",
  404: "not_found",
};
const hints: Readonly<Record<string, string>> = {
  AccessDenied: "Check the permissions of the credentials, and the bucket's policy.",
  ExpiredToken: "Get new temporary credentials.",
  InvalidAccessKeyId: "Check AWS_ACCESS_KEY_ID.",
  InvalidToken: "Check AWS_SESSION_TOKEN.",
  NoSuchBucket: "Check the name, the region and the endpoint.",
  RequestTimeTooSkewed: "Set this machine's clock.",
  SignatureDoesNotMatch: "Check AWS_SECRET_ACCESS_KEY and AWS_REGION.",
};
const redirects: ReadonlySet<string> = new Set([
  "PermanentRedirect",
  "TemporaryRedirect",
  "AuthorizationHeaderMalformed",
]);

/**
 * @param what what was done, such as `the object a/b of the bucket c cannot be read`
 * @param usedRegion the region that the request was signed for
 */
export function toAppError(error: S3Error, what: string, usedRegion: string): AppError {
  const { code, message, region, status } = error;
  const isElsewhere =
    (redirects.has(code) || (status >= 300 && status < 400)) && region !== undefined && region !== usedRegion;
  const hint = isElsewhere
    ? `The bucket is in the region ${region}, and the request was for ${usedRegion}. Set AWS_REGION=${region}.`
    : (hints[code] ?? "");
  const kind = errorCodes[status] ?? (error.passing ? "upstream_failed" : "invalid_request");
  return new AppError(kind, `${what[0]!.toUpperCase()}${what.slice(1)}: ${message}. ${hint}`.trimEnd(), {
    cause: error,
  });
}

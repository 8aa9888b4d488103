/**
 * All errors that the client throws. Distinguish them by class, or by `kind` if two copies of this package or two
 * realms may be involved: `isSoundingError(error) && error.kind === "timeout"`.
 */

export type ErrorKind =
  | "status"
  | "stream"
  | "connection"
  | "incomplete_stream"
  | "timeout"
  | "aborted"
  | "invalid_answer"
  | "configuration";

const marker = Symbol.for("sounding.error");

/** The members that all errors of the client share. */
export class SoundingError extends Error {
  override name = "SoundingError";
  /** What happened, one word per class. */
  readonly kind: ErrorKind;
  /** The server's error code if it sent one (`model_not_found`, …), otherwise the kind. */
  readonly code: string | null;

  constructor(kind: ErrorKind, message: string, options: { cause?: unknown; code?: string | null } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.code = options.code === undefined ? kind : options.code;
    Object.defineProperty(this, marker, { value: true });
  }
}

/** Whether a value is an error of this client, regardless of the copy of the package that created it. */
export function isSoundingError(value: unknown): value is SoundingError {
  return value instanceof Error && marker in value;
}

/** The server's description of a failure: OpenAI's error object and the response around it. */
export interface StatusErrorDetails {
  readonly status: number;
  readonly message: string;
  readonly code: string | null;
  readonly type: string | null;
  readonly param: string | null;
  readonly headers: Headers;
  /** The response's body: parsed if it is JSON, otherwise its text. */
  readonly body: unknown;
}

/** The server responded with a status other than 2xx. The subclasses correspond to the status. */
export class ApiStatusError extends SoundingError {
  override name = "ApiStatusError";
  readonly status: number;
  readonly type: string | null;
  /** The parameter that is wrong, if the server names one. */
  readonly param: string | null;
  /** The response's `x-request-id`, for the operator of the server. */
  readonly requestId: string | null;
  readonly headers: Headers;
  readonly body: unknown;

  constructor(details: StatusErrorDetails, kind: "status" | "stream" = "status") {
    super(kind, details.message, { code: details.code });
    this.status = details.status;
    this.type = details.type;
    this.param = details.param;
    this.requestId = details.headers.get("x-request-id");
    this.headers = details.headers;
    this.body = details.body;
  }
}

/** 400: the request is malformed or breaks a rule; `param` names the field. */
export class BadRequestError extends ApiStatusError {
  override name = "BadRequestError";
}

/** 401: the API key is missing, unknown or no longer valid. */
export class AuthenticationError extends ApiStatusError {
  override name = "AuthenticationError";
}

/** 403: the key lacks the permission. */
export class PermissionDeniedError extends ApiStatusError {
  override name = "PermissionDeniedError";
}

/** 404: the model, path or object does not exist. */
export class NotFoundError extends ApiStatusError {
  override name = "NotFoundError";
}

/** 409: the object already exists, or changed in the meantime. */
export class ConflictError extends ApiStatusError {
  override name = "ConflictError";
}

/** 422: the request is well formed but cannot be processed. */
export class UnprocessableEntityError extends ApiStatusError {
  override name = "UnprocessableEntityError";
}

/** 429: too many requests; the header `retry-after` says when to retry. */
export class RateLimitError extends ApiStatusError {
  override name = "RateLimitError";
}

/** 5xx: the server or an engine behind it failed. */
export class ServerError extends ApiStatusError {
  override name = "ServerError";
}

/** The server reported an error after the stream had started. `status` is the status that the stream started with. */
export class StreamError extends ApiStatusError {
  override name = "StreamError";

  constructor(details: StatusErrorDetails) {
    super(details, "stream");
  }
}

/** The server could not be reached, or the connection failed. */
export class ConnectionError extends SoundingError {
  override name = "ConnectionError";

  constructor(message: string, cause?: unknown, kind: "connection" | "incomplete_stream" = "connection") {
    super(kind, message, { cause });
  }
}

/** A stream ended before its end marker: the response is incomplete. */
export class IncompleteStreamError extends ConnectionError {
  override name = "IncompleteStreamError";

  constructor(message: string, cause?: unknown) {
    super(message, cause, "incomplete_stream");
  }
}

/** The call's timeout elapsed; the request was cancelled. */
export class TimeoutError extends SoundingError {
  override name = "TimeoutError";

  constructor(message: string, cause?: unknown) {
    super("timeout", message, { cause });
  }
}

/** The call's signal was aborted; the request was cancelled. `cause` is the signal's reason. */
export class AbortError extends SoundingError {
  override name = "AbortError";

  constructor(cause?: unknown) {
    super("aborted", "The call was aborted.", { cause });
  }
}

/** The response does not have the expected format, for example a web page from a proxy. */
export class InvalidAnswerError extends SoundingError {
  override name = "InvalidAnswerError";

  constructor(message: string, cause?: unknown) {
    super("invalid_answer", message, { cause });
  }
}

/** An option or a parameter of the client is missing or invalid; nothing was sent. */
export class ConfigurationError extends SoundingError {
  override name = "ConfigurationError";

  constructor(message: string, cause?: unknown) {
    super("configuration", message, { cause });
  }
}

type StatusErrorClass = new (details: StatusErrorDetails) => ApiStatusError;

const classByStatus: Readonly<Record<number, StatusErrorClass>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  422: UnprocessableEntityError,
  429: RateLimitError,
};

/** The error class for a status. */
export function statusError(details: StatusErrorDetails): ApiStatusError {
  const StatusErrorOf = classByStatus[details.status] ?? (details.status >= 500 ? ServerError : ApiStatusError);
  return new StatusErrorOf(details);
}

/**
 * Every error that the client throws. Tell them apart by class, or by `kind` where two copies of this package or two
 * realms may meet: `isSoundingError(error) && error.kind === "timeout"`.
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

/** What all errors of the client have in common. */
export class SoundingError extends Error {
  override name = "SoundingError";
  /** What happened, one word per class. */
  readonly kind: ErrorKind;
  /** The server's own word for the error where it gave one (`model_not_found`, …), else the kind. */
  readonly code: string | null;

  constructor(kind: ErrorKind, message: string, options: { cause?: unknown; code?: string | null } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.code = options.code === undefined ? kind : options.code;
    Object.defineProperty(this, marker, { value: true });
  }
}

/** Whether a value is an error of this client, in whichever copy of the package it was made. */
export function isSoundingError(value: unknown): value is SoundingError {
  return value instanceof Error && marker in value;
}

/** What the server said about a failure: OpenAI's error object and the answer around it. */
export interface StatusErrorDetails {
  readonly status: number;
  readonly message: string;
  readonly code: string | null;
  readonly type: string | null;
  readonly param: string | null;
  readonly headers: Headers;
  /** The answer's body: parsed where it is JSON, else its text. */
  readonly body: unknown;
}

/** The server answered with a status that is not 2xx. Its subclasses follow the status. */
export class ApiStatusError extends SoundingError {
  override name = "ApiStatusError";
  readonly status: number;
  readonly type: string | null;
  /** The parameter that is wrong, where the server names one. */
  readonly param: string | null;
  /** The answer's `x-request-id`, for the operator of the server. */
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

/** 401: no key, an unknown one, or one that is no longer valid. */
export class AuthenticationError extends ApiStatusError {
  override name = "AuthenticationError";
}

/** 403: the key may not do this. */
export class PermissionDeniedError extends ApiStatusError {
  override name = "PermissionDeniedError";
}

/** 404: no such model, path or object. */
export class NotFoundError extends ApiStatusError {
  override name = "NotFoundError";
}

/** 409: it exists already, or changed meanwhile. */
export class ConflictError extends ApiStatusError {
  override name = "ConflictError";
}

/** 422: well formed, but it cannot be done. */
export class UnprocessableEntityError extends ApiStatusError {
  override name = "UnprocessableEntityError";
}

/** 429: too many requests; the header `retry-after` says when to try again. */
export class RateLimitError extends ApiStatusError {
  override name = "RateLimitError";
}

/** 5xx: the server or an engine behind it failed. */
export class ServerError extends ApiStatusError {
  override name = "ServerError";
}

/** The server reported an error after the stream had begun. `status` is the one that the stream began with. */
export class StreamError extends ApiStatusError {
  override name = "StreamError";

  constructor(details: StatusErrorDetails) {
    super(details, "stream");
  }
}

/** The server could not be reached, or the connection broke. */
export class ConnectionError extends SoundingError {
  override name = "ConnectionError";

  constructor(message: string, cause?: unknown, kind: "connection" | "incomplete_stream" = "connection") {
    super(kind, message, { cause });
  }
}

/** A stream ended before its end mark: what came is not the whole answer. */
export class IncompleteStreamError extends ConnectionError {
  override name = "IncompleteStreamError";

  constructor(message: string, cause?: unknown) {
    super(message, cause, "incomplete_stream");
  }
}

/** The call's time limit ran out; the request was cancelled. */
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

/** The answer is not what the service promises, for example a web page of something that stands between. */
export class InvalidAnswerError extends SoundingError {
  override name = "InvalidAnswerError";

  constructor(message: string, cause?: unknown) {
    super("invalid_answer", message, { cause });
  }
}

/** An option or a parameter of the client itself is missing or wrong; nothing was sent. */
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

/** The error of the class that belongs to the status. */
export function statusError(details: StatusErrorDetails): ApiStatusError {
  const StatusErrorOf = classByStatus[details.status] ?? (details.status >= 500 ? ServerError : ApiStatusError);
  return new StatusErrorOf(details);
}

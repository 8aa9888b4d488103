/** Converts the client's errors to a form that can be sent between threads. */
import {
  AbortError,
  ApiStatusError,
  ConfigurationError,
  ConnectionError,
  IncompleteStreamError,
  InvalidAnswerError,
  SoundingError,
  statusError,
  TimeoutError,
  type ErrorKind,
} from "./errors.ts";

export interface PortableError {
  readonly kind: ErrorKind | "other";
  readonly message: string;
  readonly cause: PortableError | undefined;
  /** The additional members of an error with a status. */
  readonly answer?: {
    readonly status: number;
    readonly code: string | null;
    readonly type: string | null;
    readonly param: string | null;
    readonly headers: readonly (readonly [string, string])[];
    readonly body: unknown;
  };
}

/** @returns the error as plain data */
export function toPortableError(error: unknown): PortableError {
  const portable = {
    kind: error instanceof SoundingError ? error.kind : "other",
    message: error instanceof Error ? error.message : String(error),
    cause: error instanceof Error && error.cause !== undefined ? toPortableError(error.cause) : undefined,
  } as const;
  if (!(error instanceof ApiStatusError)) return portable;
  const { status, code, type, param, headers, body } = error;
  return { ...portable, answer: { status, code, type, param, headers: [...headers], body } };
}

/** @returns the error that the plain data came from, with a stack of this thread */
export function fromPortableError({ kind, message, cause, answer }: PortableError): Error {
  const revived = cause === undefined ? undefined : fromPortableError(cause);
  if (answer !== undefined) {
    return statusError({
      ...answer,
      message,
      headers: new Headers(answer.headers.map(([name, value]) => [name, value])),
    });
  }
  switch (kind) {
    case "timeout":
      return new TimeoutError(message, revived);
    case "aborted":
      return new AbortError(revived);
    case "connection":
      return new ConnectionError(message, revived);
    case "incomplete_stream":
      return new IncompleteStreamError(message, revived);
    case "invalid_answer":
      return new InvalidAnswerError(message, revived);
    case "configuration":
      return new ConfigurationError(message, revived);
    default:
      return new Error(message, { cause: revived });
  }
}

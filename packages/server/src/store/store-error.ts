/**
 * Failures of the store, with what decides whether to try again. Texts from the store quote statements and rows, which
 * are tenants' data, so they are cut down to the error's number and name where they enter.
 */
import { AppError } from "../errors.ts";

/** What another try of a failed statement can hope for. */
type Outlook = "transient" | "permanent" | "too_slow" | "too_large" | "too_scattered";

/** ClickHouse's error numbers that another try may heal. https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp */
const transientCodes: ReadonlySet<number> = new Set([
  3, // UNEXPECTED_END_OF_FILE: the body was cut
  74, // CANNOT_READ_FROM_FILE_DESCRIPTOR
  75, // CANNOT_WRITE_TO_FILE_DESCRIPTOR
  76, // CANNOT_OPEN_FILE
  202, // TOO_MANY_SIMULTANEOUS_QUERIES
  203, // NO_FREE_CONNECTION
  209, // SOCKET_TIMEOUT
  210, // NETWORK_ERROR
  225, // NO_ZOOKEEPER
  236, // ABORTED
  241, // MEMORY_LIMIT_EXCEEDED
  242, // TABLE_IS_READ_ONLY
  243, // NOT_ENOUGH_SPACE
  252, // TOO_MANY_PARTS
  279, // ALL_CONNECTION_TRIES_FAILED
  285, // TOO_FEW_LIVE_REPLICAS
  286, // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
  319, // UNKNOWN_STATUS_OF_INSERT
  394, // QUERY_WAS_CANCELLED
  425, // SYSTEM_ERROR
  999, // KEEPER_EXCEPTION
  1000, // POCO_EXCEPTION
]);
const tooSlowCodes: ReadonlySet<number> = new Set([159, 160]);
const tooLargeCodes: ReadonlySet<number> = new Set([158, 307, 396]);

function outlookOf(code: number | undefined): Outlook {
  if (code === undefined || transientCodes.has(code)) return "transient";
  if (tooSlowCodes.has(code)) return "too_slow";
  return tooLargeCodes.has(code) ? "too_large" : "permanent";
}

interface StoreErrorDetails {
  readonly code?: number | undefined;
  readonly cause?: unknown;
  /** Where the number alone does not tell. */
  readonly outlook?: Outlook | undefined;
}

/** A statement failed, or the store cannot be reached. Stays inside the store: callers get AppErrors. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  /** ClickHouse's error number; undefined when there was no answer. */
  readonly code: number | undefined;
  readonly outlook: Outlook;

  constructor(message: string, { code, cause, outlook }: StoreErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.outlook = outlook ?? outlookOf(code);
  }

  /** From an answer's exception number and text, of which only the name (`UNKNOWN_TABLE`) is kept. */
  static fromAnswer(code: number, text: string): StoreError {
    const name = /\((?<name>[A-Z][A-Z0-9_]{2,60})\)/.exec(text)?.groups?.["name"];
    // The same number as for a store that is behind with merging, which passes.
    const outlook = text.includes("Too many partitions") ? "too_scattered" : undefined;
    return new StoreError(`The store answered with error ${code}${name === undefined ? "" : ` (${name})`}.`, {
      code,
      outlook,
    });
  }
}

const readErrors = {
  transient: { code: "overloaded", message: "The telemetry store cannot answer just now.", retryAfterMs: 2000 },
  permanent: { code: "internal", message: "The telemetry store failed to answer the query.", retryAfterMs: undefined },
  too_scattered: {
    code: "internal",
    message: "The telemetry store failed to answer the query.",
    retryAfterMs: undefined,
  },
  too_slow: {
    code: "upstream_timeout",
    message: "The query took too long. Ask for a shorter time or fewer results.",
    retryAfterMs: undefined,
  },
  too_large: {
    code: "invalid_request",
    message: "The query's answer is too large. Ask for a shorter time or fewer results.",
    retryAfterMs: undefined,
  },
} as const satisfies Record<Outlook, object>;

/** What a failed read means for who asked. `signal` is the caller's own. */
export function toReadError(error: unknown, signal: AbortSignal | undefined): AppError {
  if (error instanceof AppError) return error;
  if (signal?.aborted === true) return new AppError("client_closed", "The caller ended the query.", { cause: error });
  const { code, message, retryAfterMs } = readErrors[error instanceof StoreError ? error.outlook : "permanent"];
  return new AppError(code, message, { cause: error, retryAfterMs });
}

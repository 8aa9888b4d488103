/**
 * Classifies failures of the store by whether a retry can help. Error texts of the store quote statements and rows, which are
 * tenants' data, so only the error's number and name are kept.
 */
import { AppError } from "../errors.ts";

/** What failed, and therefore whether a retry can help. */
type StoreErrorKind = "transient" | "permanent" | "too_slow" | "too_large" | "too_scattered" | "damaged";

/** ClickHouse's error numbers for which a retry can succeed. https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp */
const transientCodes: ReadonlySet<number> = new Set([
  3, // UNEXPECTED_END_OF_FILE: the body was cut
  60, // UNKNOWN_TABLE: the schema of a new store is not created yet
  74, // CANNOT_READ_FROM_FILE_DESCRIPTOR
  75, // CANNOT_WRITE_TO_FILE_DESCRIPTOR
  76, // CANNOT_OPEN_FILE
  81, // UNKNOWN_DATABASE: as 60
  173, // CANNOT_ALLOCATE_MEMORY
  192, // UNKNOWN_USER: an operator is changing the access, as for the next four
  193, // WRONG_PASSWORD
  195, // IP_ADDRESS_NOT_ALLOWED
  497, // ACCESS_DENIED
  516, // AUTHENTICATION_FAILED
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
  373, // SESSION_IS_LOCKED
  425, // SYSTEM_ERROR
  439, // CANNOT_SCHEDULE_TASK: no thread is free
  473, // DEADLOCK_AVOIDED
  999, // KEEPER_EXCEPTION
  1000, // POCO_EXCEPTION
]);
const tooSlowCodes: ReadonlySet<number> = new Set([
  159, // TIMEOUT_EXCEEDED
  160, // TOO_SLOW
]);
const tooLargeCodes: ReadonlySet<number> = new Set([
  158, // TOO_MANY_ROWS
  167, // TOO_DEEP_AST: of a statement that grew with the request, as the next two
  168, // TOO_BIG_AST
  306, // TOO_DEEP_RECURSION
  191, // SET_SIZE_LIMIT_EXCEEDED
  290, // LIMIT_EXCEEDED
  307, // TOO_MANY_BYTES
  396, // TOO_MANY_ROWS_OR_BYTES
]);
/** Files of a part are corrupt. 3 and 33 are missing because a truncated request body causes them too. */
export const damagedCodes: ReadonlySet<number> = new Set([
  40, // CHECKSUM_DOESNT_MATCH
  226, // NO_FILE_IN_DATA_PART
  228, // BAD_SIZE_OF_FILE_IN_DATA_PART
  246, // CORRUPTED_DATA
  271, // CANNOT_DECOMPRESS
  432, // UNKNOWN_CODEC
]);

/** Errors that the text identifies more precisely than the number. */
const textKinds: readonly (readonly [RegExp, StoreErrorKind])[] = [
  // The same number as for a store with a backlog of merges, which is transient.
  [/Too many partitions/, "too_scattered"],
  // The memory limit of one query, which a retry exceeds again; the store's total limit is transient.
  [/[Mm]emory limit \(for query\)|Query memory limit exceeded/, "too_large"],
  // Error 62 for a statement that is too large because of the request.
  [/Max query size exceeded/, "too_large"],
  [/No space left on device|bad_alloc/, "transient"],
];

function kindOf(code: number | undefined): StoreErrorKind {
  if (code === undefined || transientCodes.has(code)) return "transient";
  if (tooSlowCodes.has(code)) return "too_slow";
  if (damagedCodes.has(code)) return "damaged";
  return tooLargeCodes.has(code) ? "too_large" : "permanent";
}

const maximumServerText = 500;

interface StoreErrorDetails {
  readonly code?: number | undefined;
  readonly httpStatus?: number | undefined;
  readonly serverText?: string | undefined;
  readonly cause?: unknown;
  /** Set if the number alone is ambiguous. */
  readonly kind?: StoreErrorKind | undefined;
}

/** A statement failed or the store is unreachable. Never leaves the store: callers get AppErrors. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  /** ClickHouse's error number; undefined if there was no response. */
  readonly code: number | undefined;
  /** Of a response without an error number, such as a proxy's. */
  readonly httpStatus: number | undefined;
  /** The server's own text, for statements without tenants' data. */
  readonly serverText: string | undefined;
  readonly kind: StoreErrorKind;

  constructor(message: string, { code, cause, httpStatus, kind, serverText }: StoreErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.httpStatus = httpStatus;
    this.serverText = serverText;
    this.kind = kind ?? kindOf(code);
  }

  /**
   * From a response's exception number and text, of which only the name (`UNKNOWN_TABLE`) is kept.
   * @param isInternal whether the statement has no tenants' data, so that the text can be kept, too
   */
  static fromAnswer(code: number, text: string, { isInternal = false } = {}): StoreError {
    const name = /\((?<name>[A-Z][A-Z0-9_]{2,60})\)/.exec(text)?.groups?.["name"];
    const kind = textKinds.find(([pattern]) => pattern.test(text))?.[1];
    return new StoreError(`The store responded with error ${code}${name === undefined ? "" : ` (${name})`}.`, {
      code,
      kind,
      serverText: isInternal ? text.trim().slice(0, maximumServerText) : undefined,
    });
  }

  /** From text where a row was expected: the error that ended the statement, or a truncated row. */
  static fromBrokenAnswer(text: string): StoreError {
    const code = /Code: (?<code>\d+)\. DB::/.exec(text)?.groups?.["code"];
    return code === undefined
      ? new StoreError("The store's response was truncated.")
      : StoreError.fromAnswer(Number(code), text);
  }
}

const readErrors = {
  transient: {
    code: "overloaded",
    message: "The telemetry store is temporarily unavailable. Retry later.",
    retryAfterMs: 2000,
  },
  permanent: { code: "internal", message: "The telemetry store could not run the query.", retryAfterMs: undefined },
  too_scattered: {
    code: "internal",
    message: "The telemetry store could not run the query.",
    retryAfterMs: undefined,
  },
  too_slow: {
    code: "upstream_timeout",
    message: "The query took too long. Use a shorter time range or request fewer results.",
    retryAfterMs: undefined,
  },
  too_large: {
    code: "invalid_request",
    message: "The query's result is too large. Use a shorter time range or request fewer results.",
    retryAfterMs: undefined,
  },
  damaged: {
    code: "internal",
    message: "Some telemetry in this time range is damaged on disk and cannot be read. Use another time range.",
    retryAfterMs: undefined,
  },
} as const satisfies Record<StoreErrorKind, object>;

/** The caller's error for a failed read. `signal` is the caller's own. */
export function toReadError(error: unknown, signal: AbortSignal | undefined): AppError {
  if (error instanceof AppError) return error;
  if (signal?.aborted === true)
    return new AppError("client_closed", "The caller cancelled the query.", { cause: error });
  const { code, message, retryAfterMs } = readErrors[error instanceof StoreError ? error.kind : "permanent"];
  return new AppError(code, message, { cause: error, retryAfterMs });
}

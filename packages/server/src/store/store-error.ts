/**
 * Failures of the store, with what decides whether to try again. Texts from the store quote statements and rows, which
 * are tenants' data, so they are cut down to the error's number and name where they enter.
 */
import { AppError } from "../errors.ts";

/** What another try of a failed statement can hope for. */
type Outlook = "transient" | "permanent" | "too_slow" | "too_large" | "too_scattered" | "damaged";

/** ClickHouse's error numbers that another try may heal. https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp */
const transientCodes: ReadonlySet<number> = new Set([
  3, // UNEXPECTED_END_OF_FILE: the body was cut
  60, // UNKNOWN_TABLE: the schema of a new store is not created yet
  74, // CANNOT_READ_FROM_FILE_DESCRIPTOR
  75, // CANNOT_WRITE_TO_FILE_DESCRIPTOR
  76, // CANNOT_OPEN_FILE
  81, // UNKNOWN_DATABASE: as 60
  173, // CANNOT_ALLOCATE_MEMORY
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
/** Files of a part do not hold what they should. A body that was cut has 3 or 33, so those are not among them. */
export const damagedCodes: ReadonlySet<number> = new Set([
  40, // CHECKSUM_DOESNT_MATCH
  226, // NO_FILE_IN_DATA_PART
  228, // BAD_SIZE_OF_FILE_IN_DATA_PART
  246, // CORRUPTED_DATA
  271, // CANNOT_DECOMPRESS
  432, // UNKNOWN_CODEC
]);

/** What the text of an answer says more precisely than its number. */
const textOutlooks: readonly (readonly [RegExp, Outlook])[] = [
  // The same number as for a store that is behind with merging, which passes.
  [/Too many partitions/, "too_scattered"],
  // The limit of one query, which another try meets again; that of the whole store passes.
  [/[Mm]emory limit \(for query\)|Query memory limit exceeded/, "too_large"],
  // Error 62 of a statement that grew with the request.
  [/Max query size exceeded/, "too_large"],
  [/No space left on device|bad_alloc/, "transient"],
];

function outlookOf(code: number | undefined): Outlook {
  if (code === undefined || transientCodes.has(code)) return "transient";
  if (tooSlowCodes.has(code)) return "too_slow";
  if (damagedCodes.has(code)) return "damaged";
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
    const outlook = textOutlooks.find(([pattern]) => pattern.test(text))?.[1];
    return new StoreError(`The store answered with error ${code}${name === undefined ? "" : ` (${name})`}.`, {
      code,
      outlook,
    });
  }

  /** From a piece of an answer that should be a row: the error with which a statement ended, or a row that was cut. */
  static fromBrokenAnswer(text: string): StoreError {
    const code = /Code: (?<code>\d+)\. DB::/.exec(text)?.groups?.["code"];
    return code === undefined
      ? new StoreError("The store's answer was cut.")
      : StoreError.fromAnswer(Number(code), text);
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
  damaged: {
    code: "internal",
    message: "Some telemetry of this time is damaged on the disk and cannot be read. Ask for another time.",
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

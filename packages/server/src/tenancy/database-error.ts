/** Translates errors of SQLite and Postgres. */
import { AppError, defaultRetryAfterMs } from "../errors.ts";

/** A failure that the operator can fix or that is temporary. Callers see the message. */
interface DatabaseFault {
  readonly message: string;
  readonly retryAfterMs: number;
}

const unreachable: DatabaseFault = {
  message: "The control database cannot be reached. Retry later.",
  retryAfterMs: defaultRetryAfterMs,
};
const busy: DatabaseFault = {
  message: "The control database is busy with another change. Retry later.",
  retryAfterMs: defaultRetryAfterMs,
};
const refused: DatabaseFault = {
  message: "The control database rejects the server's login. Check storage.database_url.",
  retryAfterMs: 30_000,
};
const full: DatabaseFault = {
  message: "The disk of the control database is full, so nothing was changed. Free some space and retry.",
  retryAfterMs: 30_000,
};
const readOnly: DatabaseFault = {
  message: "The control database is read-only, so nothing was changed. Make it writable and retry.",
  retryAfterMs: 30_000,
};
const noMemory: DatabaseFault = {
  message: "The control database is out of memory. Retry later.",
  retryAfterMs: 5_000,
};
const diskFailed: DatabaseFault = {
  message:
    "The disk of the control database cannot be read or written. Check the disk and the permissions of its files.",
  retryAfterMs: 30_000,
};
const damaged: DatabaseFault = {
  message: "The control database is damaged. Restore it from a backup.",
  retryAfterMs: 30_000,
};

/** By SQLite's primary result code. https://sqlite.org/rescode.html */
const sqliteFaults: ReadonlyMap<number, DatabaseFault> = new Map([
  [5, busy], // SQLITE_BUSY
  [6, busy], // SQLITE_LOCKED
  [7, noMemory], // SQLITE_NOMEM
  [8, readOnly], // SQLITE_READONLY
  [10, diskFailed], // SQLITE_IOERR
  [11, damaged], // SQLITE_CORRUPT
  [13, full], // SQLITE_FULL
  [14, diskFailed], // SQLITE_CANTOPEN
  [15, busy], // SQLITE_PROTOCOL: locks of the write-ahead log
  [26, damaged], // SQLITE_NOTADB
]);

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const postgresFaults: readonly (readonly [RegExp, DatabaseFault])[] = [
  [/^(08...|57P0[1-5]|57014|53300|53400)$/, unreachable],
  [/^(40001|40P01|55P03)$/, busy],
  [/^(28...|3D000|42501)$/, refused],
  [/^(53100|53000)$/, full],
  [/^53200$/, noMemory],
  [/^25006$/, readOnly],
  [/^58...$/, diskFailed],
  [/^XX00[12]$/, damaged],
];
const networkErrors = /^(ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ENOENT)$/;
/** Errors for which the driver sets no code. */
const driverMessages =
  /timeout exceeded when trying to connect|Query read timeout|Connection terminated|not queryable/i;

function faultOf(error: unknown): DatabaseFault | undefined {
  if (error instanceof AggregateError && error.errors.length > 0) {
    const faults = error.errors.map(faultOf);
    return faults.every((fault) => fault !== undefined) ? faults[0] : undefined;
  }
  if (!(error instanceof Error)) return undefined;
  // The low byte is the primary code.
  if ("errcode" in error && typeof error.errcode === "number") return sqliteFaults.get(error.errcode & 0xff);
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (code === "ENOSPC" || code === "EDQUOT") return full;
  if (code === "EROFS") return readOnly;
  if (networkErrors.test(code) || driverMessages.test(error.message)) return unreachable;
  return postgresFaults.find(([pattern]) => pattern.test(code))?.[1];
}

/** Leaves AppErrors unchanged; errors of the database become `overloaded` with the reason, or `internal`. */
export function toDatabaseFailure(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const fault = faultOf(error);
  if (fault !== undefined)
    return new AppError("overloaded", fault.message, { cause: error, retryAfterMs: fault.retryAfterMs });
  return new AppError(
    "internal",
    "The control database failed. The server's log has the details under the request ID.",
    {
      cause: error,
    },
  );
}

/**
 * Why the database cannot be used at startup, for the person who starts the server.
 * @param place the file, or undefined for Postgres
 */
export function toStartFailure(error: unknown, place: string | undefined): AppError {
  const reason = error instanceof Error ? error.message : String(error);
  const fault = faultOf(error);
  if (fault === damaged && place !== undefined) {
    return new AppError(
      "internal",
      `The control database ${place} is damaged (${reason}). Restore the file from a backup, together with its -wal file if one exists. To keep the damaged file and start without it, move it to another place.`,
      { cause: error },
    );
  }
  if (fault === unreachable || fault === busy) return toDatabaseFailure(error);
  return new AppError(
    "internal",
    `The control database${place === undefined ? "" : ` ${place}`} cannot be opened or upgraded to the schema of this version: ${reason}.${fault === undefined ? "" : ` ${fault.message}`}`,
    { cause: error },
  );
}

/** SQLITE_CONSTRAINT_UNIQUE. https://sqlite.org/rescode.html#constraint_unique */
const sqliteUnique = 2067;
const postgresUnique = "23505";

/**
 * Runs an insert or a rename of an object whose name is unique.
 * @throws AppError conflict when the name is taken
 */
export function rejectNameConflict(kind: string, name: string, run: () => Promise<unknown>): Promise<void> {
  return rejectConflict(run, "name", `name is ${JSON.stringify(name)}; another ${kind} already has this name.`);
}

/**
 * Runs a change that may violate a unique constraint.
 * @throws AppError conflict, with the message, if it does
 */
export async function rejectConflict(run: () => Promise<unknown>, param: string, message: string): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new AppError("conflict", message, { param, cause: error });
  }
}

function isUniqueViolation(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("errcode" in error && error.errcode === sqliteUnique) || ("code" in error && error.code === postgresUnique);
}

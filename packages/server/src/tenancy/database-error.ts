/** What the errors of the two databases mean. */
import { AppError } from "../errors.ts";

/** Postgres says that it starts, stops, has no room or lost the connection. https://www.postgresql.org/docs/current/errcodes-appendix.html */
const unreachableStates = /^(08...|57P0[1-4]|53300|57014)$/;
const networkErrors = /^(ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ENOENT)$/;
/** The driver gives these no code. */
const driverMessages =
  /timeout exceeded when trying to connect|Query read timeout|Connection terminated|not queryable/i;

/** Whether the database may well answer later: it is down, restarting, full or too slow. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(isUnreachable);
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return unreachableStates.test(code) || networkErrors.test(code) || driverMessages.test(error.message);
}

/** SQLITE_CONSTRAINT_UNIQUE. https://sqlite.org/rescode.html#constraint_unique */
const sqliteUnique = 2067;
const postgresUnique = "23505";

/**
 * Inserts or renames something whose name is unique.
 * @throws AppError conflict when the name is taken
 */
export async function orNameConflict(kind: string, name: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new AppError("conflict", `name is ${JSON.stringify(name)}; another ${kind} has this name.`, {
      param: "name",
      cause: error,
    });
  }
}

function isUniqueViolation(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("errcode" in error && error.errcode === sqliteUnique) || ("code" in error && error.code === postgresUnique);
}

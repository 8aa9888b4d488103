/**
 * Locks that belong to a process: a transaction on a SQLite file. The system releases it when the process ends, however it ends, so
 * no lock is ever stale and no PID is trusted.
 */
import { DatabaseSync } from "node:sqlite";

/** https://sqlite.org/rescode.html#busy */
const busy = 5;

/**
 * Creates the file if it does not exist.
 * @returns a function that releases the lock; undefined if another process, or this one, holds it
 * @throws Error if the file system cannot lock
 */
export function tryLock(path: string): (() => void) | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    // Nothing is written, so no journal is needed next to the file.
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return () => database!.close();
  } catch (error) {
    database?.close();
    if ((error as { errcode?: number }).errcode === busy) return undefined;
    throw error;
  }
}

/**
 * Adapts Kysely's SQLite dialect, which was written for better-sqlite3, to Node's built-in SQLite.
 * https://nodejs.org/api/sqlite.html https://sqlite.org/wal.html
 */
import { chmodSync, closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import {
  CompiledQuery,
  SqliteAdapter,
  SqliteDialect,
  SqliteDriver,
  type DatabaseConnection,
  type DialectAdapter,
  type Driver,
  type SqliteDatabase,
  type SqliteDialectConfig,
  type SqliteStatement,
} from "kysely";

/** How long a transaction waits for one of another process. Ours take milliseconds. */
export const busyTimeoutMs = 5000;
/** SQLite's own wait blocks this thread, so it is short; transactions wait without blocking. */
const blockingTimeoutMs = 20;
const busyPauseMs = 20;

export class NodeSqliteDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig;

  /** @param waitMs how long a statement outside of transactions waits, blocking this thread */
  constructor(path: string, waitMs = blockingTimeoutMs) {
    const config = { database: () => openDatabase(path, waitMs) };
    super(config);
    this.#config = config;
  }

  override createDriver(): Driver {
    return new ImmediateDriver(this.#config);
  }

  override createAdapter(): DialectAdapter {
    return new TransactionalAdapter();
  }
}

/**
 * Takes the write lock when a transaction begins. A deferred transaction that reads first fails immediately at its first
 * write if another process wrote in between.
 */
class ImmediateDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await whileBusy(() => connection.executeQuery(CompiledQuery.raw("begin immediate")));
  }

  /** After a disk error, SQLite has rolled back already; then the error of the statement is reported, not that of ROLLBACK. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await super.rollbackTransaction(connection);
    } catch (error) {
      if (!(error instanceof Error && error.message.includes("no transaction is active"))) throw error;
    }
  }
}

/** Declares transactional DDL, so that the migrator runs all migrations in one transaction. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

async function openDatabase(path: string, waitMs: number): Promise<SqliteDatabase> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // SQLite copies this file's mode to -wal and -shm.
  closeSync(openSync(path, "a", 0o600));
  chmodSync(path, 0o600);
  const database = new DatabaseSync(path, { timeout: waitMs, enableForeignKeyConstraints: true });
  try {
    // Two processes that do this to a new file at the same time get SQLITE_BUSY immediately, despite the timeout.
    await whileBusy(() => database.exec("pragma journal_mode = wal"));
    // A revocation that was confirmed survives a power failure.
    database.exec("pragma synchronous = full");
  } catch (error) {
    database.close();
    throw error;
  }
  return { prepare: (text) => toStatement(database, text), close: () => database.close() };
}

/** Retries until no other process holds the lock or the time is up. */
async function whileBusy<T>(run: () => T | Promise<T>): Promise<T> {
  const deadlineMs = performance.now() + busyTimeoutMs;
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadlineMs) throw error;
      await delay(busyPauseMs);
    }
  }
}

const sqliteBusy = 5;

function isBusy(error: unknown): boolean {
  // The low byte is the primary code. https://sqlite.org/rescode.html#primary_result_codes_versus_extended_result_codes
  return error instanceof Error && "errcode" in error && (Number(error.errcode) & 0xff) === sqliteBusy;
}

function toStatement(database: DatabaseSync, text: string): SqliteStatement {
  const statement = database.prepare(text);
  const values = (parameters: readonly unknown[]) => parameters as SQLInputValue[];
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...values(parameters)),
    run: (parameters) => statement.run(...values(parameters)),
    iterate: (parameters) => statement.iterate(...values(parameters)),
  };
}

/**
 * The control database: organizations, projects, keys and token usage, in SQLite or in Postgres.
 * docs/adr/0005-tenancy-and-sessions.md
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Kysely, PostgresDialect, sql } from "kysely";
import { Pool, TypeOverrides, type PoolConfig } from "pg";
import { tryAdvisoryLock, type HeldLock } from "./advisory-lock.ts";
import { withEntry } from "./audit/current-act.ts";
import type { Reader, Writer } from "./database-access.ts";
import { toDatabaseFailure, toStartFailure } from "./database-error.ts";
import { migrate, type MigrationState, readMigrationState } from "./migrations.ts";
import { busyTimeoutMs, NodeSqliteDialect } from "./node-sqlite.ts";
import type { ControlTables } from "./tables.ts";

export interface ControlDatabaseOptions {
  /** `postgres://user:password@host:5432/name`; absent: SQLite, in the file `control.sqlite` of the data directory. */
  readonly url?: string | undefined;
  readonly dataDirectory: string;
  /** Whether another process of this server has run the migrations. */
  readonly isMigrated?: boolean | undefined;
}

export type { Reader, Writer };

/** An open control database. Its failures are AppErrors: `overloaded` while it is unreachable. */
export interface ControlDatabase {
  readonly kind: "sqlite" | "postgres";
  read<T>(run: (database: Reader) => Promise<T>): Promise<T>;
  /** Runs the function on one state of the database: it sees no changes that are made meanwhile. */
  snapshot<T>(run: (database: Reader) => Promise<T>): Promise<T>;
  /** Runs the function in one transaction. */
  write<T>(run: (transaction: Writer) => Promise<T>): Promise<T>;
  /**
   * Like `write`, for changes by the admin API: one at a time over all servers, so that rules over several rows hold. Within a
   * request that the audit log records, the transaction writes its entry. Listeners are called afterwards.
   */
  change<T>(run: (transaction: Writer) => Promise<T>): Promise<T>;
  /** Like `write`, with the entry of the request in the audit log. */
  writeAct<T>(run: (transaction: Writer) => Promise<T>): Promise<T>;
  /** Calls the listener after every `change` in this process, before `change` resolves. */
  onChange(listener: () => void): void;
  /**
   * Takes the lock with this name for as long as the process and its connection live; undefined while another server holds it.
   * On SQLite, the data directory excludes other servers already; `workers/` excludes other processes of this one.
   * @throws AppError overloaded if the database is unreachable
   */
  tryLock(name: string): Promise<HeldLock | undefined>;
  close(): Promise<void>;
}

/**
 * Opens the database and runs its migrations, unless they have been run.
 * @throws AppError overloaded if it is unreachable, internal if it cannot be used
 */
export async function openControlDatabase({
  url,
  dataDirectory,
  isMigrated = false,
}: ControlDatabaseOptions): Promise<ControlDatabase> {
  const kind = url === undefined ? "sqlite" : "postgres";
  const file = join(dataDirectory, "control.sqlite");
  const open = (limits: PoolConfig, waitMs?: number) =>
    new Kysely<ControlTables>({
      dialect:
        url === undefined ? new NodeSqliteDialect(file, waitMs) : new PostgresDialect({ pool: openPool(url, limits) }),
    });
  if (!isMigrated) {
    // Migrations may wait long for another server's, so they use their own connections without a timeout. The migrator
    // also writes outside of transactions.
    const migrating = open({ max: 2 }, busyTimeoutMs);
    try {
      await migrate(migrating);
    } catch (error) {
      throw toStartFailure(error, url === undefined ? file : undefined);
    } finally {
      await migrating.destroy();
    }
  }
  return controlDatabase({ kind, url, database: open({ max: 10, query_timeout: queryTimeoutMs }) });
}

/**
 * Which migrations the database has, without changing it. A file that does not exist has none.
 * @throws AppError overloaded if it is unreachable, internal if it cannot be used
 */
export async function controlMigrations({ url, dataDirectory }: ControlDatabaseOptions): Promise<MigrationState> {
  const file = join(dataDirectory, "control.sqlite");
  if (url === undefined && !existsSync(file)) return readMigrationState(undefined);
  const dialect =
    url === undefined ? new NodeSqliteDialect(file) : new PostgresDialect({ pool: openPool(url, { max: 1 }) });
  const database = new Kysely<ControlTables>({ dialect });
  try {
    return await readMigrationState(database);
  } catch (error) {
    throw toStartFailure(error, url === undefined ? file : undefined);
  } finally {
    await database.destroy();
  }
}

const connectTimeoutMs = 3000;
const queryTimeoutMs = 5000;
/** OID of the type `bigint`. Our columns of this type hold seconds and tokens, which fit into a double exactly. */
const bigintOid = 20;
/** An arbitrary number that identifies our advisory lock. */
const changeLock = 7_403_586_123;

function openPool(connectionString: string, limits: PoolConfig): Pool {
  const columnTypes = new TypeOverrides();
  columnTypes.setTypeParser(bigintOid, Number);
  const pool = new Pool({
    connectionString,
    application_name: "sounding",
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    // A connection whose packets are dropped fails every query until it is replaced.
    maxLifetimeSeconds: 60,
    types: columnTypes,
    ...limits,
  });
  // The next query replaces a broken idle connection; without a listener it would end the process.
  pool.on("error", () => {});
  return pool;
}

interface OpenDatabase extends Pick<ControlDatabase, "kind"> {
  readonly url: string | undefined;
  readonly database: Kysely<ControlTables>;
}

/** The transaction in which the state of an object is read before and after its change. */
const within = new AsyncLocalStorage<{ readonly database: Reader; readonly transaction: Writer; isOpen: boolean }>();

function controlDatabase({ database, kind, url }: OpenDatabase): ControlDatabase {
  const listeners: (() => void)[] = [];
  const write: ControlDatabase["write"] = (run) => wrapped(() => database.transaction().execute(run));
  const recorded = async <T>(run: (transaction: Writer) => Promise<T>, takesLock: boolean): Promise<T> => {
    const { markRecorded, result } = await write(async (transaction) => {
      // SQLite serializes transactions itself.
      if (takesLock && kind === "postgres") await sql`select pg_advisory_xact_lock(${changeLock})`.execute(transaction);
      return await withEntry(transaction, run, async (read) => {
        const reading = { database, transaction, isOpen: true };
        try {
          return await within.run(reading, read);
        } finally {
          reading.isOpen = false;
        }
      });
    });
    markRecorded();
    return result;
  };
  return {
    kind,
    read(run) {
      const current = within.getStore();
      const isWithin = current?.isOpen === true && current.database === database;
      return wrapped(() => run(isWithin ? current.transaction : database));
    },
    snapshot: (run) =>
      // A transaction of SQLite sees one state anyway.
      kind === "sqlite"
        ? write(run)
        : wrapped(() => database.transaction().setIsolationLevel("repeatable read").execute(run)),
    write,
    writeAct: (run) => recorded(run, false),
    async change(run) {
      try {
        return await recorded(run, true);
      } finally {
        // Also after a failure: a commit whose response was lost has happened.
        for (const listener of listeners) listener();
      }
    },
    onChange: (listener) => void listeners.push(listener),
    tryLock: (name) => wrapped(async () => (url === undefined ? unsharedLock : await tryAdvisoryLock(url, name))),
    close: () => database.destroy(),
  };
}

const unsharedLock: HeldLock = { lost: new AbortController().signal, release: async () => {} };

async function wrapped<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw toDatabaseFailure(error);
  }
}

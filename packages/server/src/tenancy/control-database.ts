/**
 * The control database: organizations, projects, keys and token usage, in SQLite or in Postgres.
 * docs/adr/0005-tenancy-and-control-database.md
 */
import { join } from "node:path";
import { Kysely, PostgresDialect, sql, type Transaction } from "kysely";
import { Pool, TypeOverrides, type PoolConfig } from "pg";
import { toDatabaseFailure, toStartFailure } from "./database-error.ts";
import { migrate } from "./migrations.ts";
import { NodeSqliteDialect } from "./node-sqlite.ts";
import type { ControlTables } from "./tables.ts";

export interface ControlDatabaseOptions {
  /** `postgres://user:password@host:5432/name`; absent: SQLite, in the file `control.sqlite` of the data directory. */
  readonly url?: string | undefined;
  readonly dataDirectory: string;
}

export type Reader = Kysely<ControlTables>;
export type Writer = Transaction<ControlTables>;

/** An open control database. Its failures are AppErrors: `overloaded` when it cannot be reached just now. */
export interface ControlDatabase {
  readonly kind: "sqlite" | "postgres";
  read<T>(work: (database: Reader) => Promise<T>): Promise<T>;
  /** Runs work in one transaction. */
  write<T>(work: (transaction: Writer) => Promise<T>): Promise<T>;
  /**
   * Like `write`, for what administration changes: one change at a time over all servers, so that a rule over
   * several rows holds, and the listeners hear of it afterwards.
   */
  change<T>(work: (transaction: Writer) => Promise<T>): Promise<T>;
  /** Calls the listener after every `change` in this process, before the change's caller hears of it. */
  onChange(listener: () => void): void;
  close(): Promise<void>;
}

/**
 * Opens the database and brings it to the newest form.
 * @throws AppError overloaded when it cannot be reached, internal when it cannot be used
 */
export async function openControlDatabase({ url, dataDirectory }: ControlDatabaseOptions): Promise<ControlDatabase> {
  const kind = url === undefined ? "sqlite" : "postgres";
  const file = join(dataDirectory, "control.sqlite");
  const open = (limits: PoolConfig) =>
    new Kysely<ControlTables>({
      dialect: url === undefined ? new NodeSqliteDialect(file) : new PostgresDialect({ pool: openPool(url, limits) }),
    });
  // Migrations may wait long for another server's, so they have connections of their own without a time limit.
  const migrating = open({ max: 2 });
  try {
    await migrate(migrating);
  } catch (error) {
    throw toStartFailure(error, url === undefined ? file : undefined);
  } finally {
    await migrating.destroy();
  }
  return controlDatabase(kind, open({ max: 10, query_timeout: queryTimeoutMs }));
}

const connectTimeoutMs = 3000;
const queryTimeoutMs = 5000;
/** Number of the type `bigint`. Our columns of it hold seconds and tokens, which a double holds exactly. */
const bigintOid = 20;
/** An arbitrary number that names our lock among the database's advisory locks. */
const changeLock = 7_403_586_123;

function openPool(connectionString: string, limits: PoolConfig): Pool {
  const columnTypes = new TypeOverrides();
  columnTypes.setTypeParser(bigintOid, Number);
  const pool = new Pool({
    connectionString,
    application_name: "sounding",
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    // A connection whose packets vanish fails every query until it is replaced.
    maxLifetimeSeconds: 60,
    types: columnTypes,
    ...limits,
  });
  // An idle connection that breaks is replaced by the next query; without a listener it would end the process.
  pool.on("error", () => {});
  return pool;
}

function controlDatabase(kind: ControlDatabase["kind"], database: Kysely<ControlTables>): ControlDatabase {
  const listeners: (() => void)[] = [];
  const write: ControlDatabase["write"] = (work) => wrapped(() => database.transaction().execute(work));
  return {
    kind,
    read: (work) => wrapped(() => work(database)),
    write,
    async change(work) {
      try {
        return await write(async (transaction) => {
          // SQLite's transactions exclude each other by themselves.
          if (kind === "postgres") await sql`select pg_advisory_xact_lock(${changeLock})`.execute(transaction);
          return await work(transaction);
        });
      } finally {
        // Also after a failure: a commit whose answer was lost has happened.
        for (const listener of listeners) listener();
      }
    },
    onChange: (listener) => void listeners.push(listener),
    close: () => database.destroy(),
  };
}

async function wrapped<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toDatabaseFailure(error);
  }
}

/**
 * The interface of the telemetry store: rows are appended for an organization and read only through a Scope.
 */
import type { Scope } from "../tenant.ts";
import type { StoreAddress } from "./connection.ts";
import type { Eraser } from "./erasure.ts";
import type { ColumnBlock } from "./native-reader.ts";
import type { RowCache } from "./row-cache.ts";
import type { TableName } from "./schema.ts";
import type { Statement } from "./statement.ts";

/** Rows of one table and one organization, encoded by a `BlockWriter`. */
export interface Batch {
  readonly organizationId: string;
  readonly table: TableName;
  readonly block: Uint8Array;
  readonly rowCount: number;
  /** How many days the rows' times are in, for tables that are divided into days. */
  readonly dayCount?: number | undefined;
  /** For tables with an identity: the rows' hashes, remembered once the rows are durable. */
  readonly identities?: readonly bigint[] | undefined;
}

export interface AppendOptions {
  /**
   * `synced` (the default): a power cut cannot lose acknowledged rows. `written`: the rows are acknowledged before they are
   * flushed to the disk, for the server's own records. Without a journal, all rows are synced.
   */
  readonly durability?: "synced" | "written";
}

export interface QueryOptions {
  /** The request's memory charge. Result rows are charged to it as they arrive. */
  readonly memory?: { add(bytes: number): void } | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Default: the setting `telemetry.query_timeout_ms`. */
  readonly timeoutMs?: number | undefined;
  /** More rows than this are an error. Default 100,000. */
  readonly maximumRows?: number | undefined;
  /**
   * `removed` (the default): of rows with the same sort key, such as a span that was sent twice, one is returned. `kept`: three
   * to ten times faster, for statements whose caller removes duplicates by key or does not mind them.
   */
  readonly duplicates?: "removed" | "kept" | undefined;
}

/**
 * Values by column name: strings, numbers (64-bit integers as decimal strings; NaN and infinities as strings), arrays, and maps
 * as arrays of pairs in order. Times are strings, `seconds.nanoseconds`; `toUnixTimestamp64Nano(time)` gives nanoseconds.
 */
export type Row = Record<string, unknown>;

/** Reads one organization's data. No statement can see rows of other organizations. */
export interface TenantReader {
  /**
   * The statement's rows. Use plain table names and compare their organization with `callerOrganization`:
   * `sql\`SELECT … FROM spans WHERE organization = ${callerOrganization} AND …\``.
   * @throws AppError overloaded, upstream_timeout, client_closed or internal
   */
  query<Shape extends object = Row>(statement: Statement, options?: QueryOptions): Promise<Shape[]>;
  /**
   * The same, row by row, for large results. Leaving the loop ends the query. The query occupies a read slot until then, so do
   * not wait for another statement within the loop.
   */
  stream<Shape extends object = Row>(statement: Statement, options?: QueryOptions): AsyncIterable<Shape>;
  /** The same as typed arrays, for results with many numbers. native-reader.ts lists the supported types. */
  columns(statement: Statement, options?: QueryOptions): Promise<ColumnBlock[]>;
  /** This organization's cached rows: immutable ones, by table and identity, and those that carry `descriptionVersion`. */
  readonly cache: RowCache;
  /**
   * A number that changes whenever rows that describe others (series, resources, scopes) are stored for this organization.
   * Resolves once all that were acknowledged before are. Undefined if only the store itself knows, because other servers may
   * write to it too.
   */
  readonly descriptionVersion: (() => Promise<number>) | undefined;
  /** Whether statements may read sums by minute instead of rows (rollups/). */
  readonly usesRollups: boolean;
  /** Whether content that the caller may read is encrypted, so that statements cannot search in it. */
  readonly encryptsContent: boolean;
}

export interface StoreState {
  readonly ready: boolean;
  /** Why the store is not ready, for operators. */
  readonly reason?: string | undefined;
  /** Which stored data is corrupt, for operators; only known for the embedded store. */
  readonly damage?: string | undefined;
  /** Whether the configuration disables the store. */
  readonly disabled?: boolean | undefined;
}

/** The outcome of writing rows, for the server's own metrics. */
export interface WriteReport {
  readonly table: TableName;
  readonly rows: number;
  /** `written`, or the code of the error that senders got. */
  readonly outcome: "written" | "rate_limited" | "overloaded" | "invalid_request" | "internal";
  /** Duration of the insert; undefined for rows that were never sent. */
  readonly durationMs?: number | undefined;
}

/** The tables from which an organization's rows can be deleted. Rows that describe others expire instead. */
export type RemovableTable = "spans" | "span_details" | "trace_index" | "logs" | "points";

export interface Removal {
  readonly table: RemovableTable;
  /** In addition to the organization, which is always compared. */
  readonly condition: Statement;
  readonly signal: AbortSignal;
}

export interface Store {
  /**
   * Resolves once the rows are durable.
   * @throws AppError rate_limited (this organization's queue is full) or overloaded (every queue, or the store is down),
   *   both with `retryAfterMs`; invalid_request if the rows span too many days, internal if the store rejects them
   */
  append(batch: Batch, options?: AppendOptions): Promise<void>;
  /** Whether a row with this hash is durable and was written today, so that it need not be appended again. */
  isKnown(table: TableName, organizationId: string, identity: bigint): boolean;
  open(scope: Scope): TenantReader;
  /** Deletes rows of the scope's organization; resolves once no query returns them. @throws AppError as queries do */
  remove(scope: Scope, removal: Removal): Promise<void>;
  /** Erases rows for good. */
  readonly eraser: Eraser;
  state(): StoreState;
  /** The state, after asking an embedded store whether it answers; takes less than 1.5 seconds. */
  check(): Promise<StoreState>;
  /** Bytes of rows whose senders wait. */
  queuedBytes(): number;
  /** Bytes of acknowledged rows in the journal that are not in the store yet. */
  journalBytes(): number;
  /** Number of queued reads. */
  waitingReads(): number;
  /** Addresses of ClickHouse, if there are several. */
  addresses(): readonly StoreAddress[];
  /** Resolves once the store is ready. Rejects if the signal fires. */
  whenReady(signal: AbortSignal): Promise<void>;
  /** Accepts no more rows, writes the queued ones and stops the embedded process. */
  close(): Promise<void>;
}

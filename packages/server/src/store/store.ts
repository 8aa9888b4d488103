/**
 * The telemetry store as the rest of the server sees it: rows are appended for an organization, and read back only
 * through a Scope.
 */
import type { Scope } from "../tenant.ts";
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
  /** For tables with an identity: the rows' hashes, remembered once the rows are durable. */
  readonly identities?: readonly bigint[] | undefined;
}

export interface QueryOptions {
  /** What the request holds of the memory budget; the answer's rows are charged to it while they arrive. */
  readonly memory?: { add(bytes: number): void } | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Default: the setting `telemetry.query_timeout_ms`. */
  readonly timeoutMs?: number | undefined;
  /** More rows than this are an error. Default 100 000. */
  readonly maximumRows?: number | undefined;
  /**
   * `removed` (the default): of rows with one sort key, such as a span that was sent twice, one counts. `kept`: three to
   * ten times quicker, for statements that read the newest rows and whose caller removes doubles by the key itself.
   */
  readonly duplicates?: "removed" | "kept" | undefined;
}

/**
 * Column name → value: texts, numbers (those of 64 bits as decimal text; NaN and infinities as text), lists, maps as lists
 * of pairs in their order. Times are text, `seconds.nanoseconds`; `toUnixTimestamp64Nano(time)` gives nanoseconds.
 */
export type Row = Record<string, unknown>;

/** One organization's data. Every statement sees that organization's rows only, whatever it says. */
export interface TenantReader {
  /**
   * The statement's rows. Name tables plainly, compare their organization with `ownOrganization`:
   * `sql\`SELECT … FROM spans WHERE organization = ${ownOrganization} AND …\``.
   * @throws AppError overloaded, upstream_timeout, client_closed or internal
   */
  query<Shape extends object = Row>(statement: Statement, options?: QueryOptions): Promise<Shape[]>;
  /**
   * The same, row by row, for answers that are large. Leaving the loop ends the query. It holds one of the store's places
   * until then, so do not wait for another statement within the loop.
   */
  stream<Shape extends object = Row>(statement: Statement, options?: QueryOptions): AsyncIterable<Shape>;
  /** The same as typed arrays, for answers with many numbers; see native-reader.ts for the types that it can read. */
  columns(statement: Statement, options?: QueryOptions): Promise<ColumnBlock[]>;
  /** Rows of this organization that never change, by table and identity. */
  readonly cache: RowCache;
}

export interface StoreState {
  readonly ready: boolean;
  /** Why not, for operators. */
  readonly reason?: string | undefined;
  /** What of the stored data is damaged, for operators; known of the embedded store alone. */
  readonly damage?: string | undefined;
  /** Whether the store is off because the configuration says so. */
  readonly disabled?: boolean | undefined;
}

/** What became of rows, for the server's own metrics. */
export interface WriteReport {
  readonly table: TableName;
  readonly rows: number;
  /** `written`, or the code of the error that the senders got. */
  readonly outcome: "written" | "rate_limited" | "overloaded" | "invalid_request" | "internal";
  /** From the start of the insert to its end; undefined for rows that were never sent. */
  readonly durationMs?: number | undefined;
}

export interface Store {
  /**
   * Resolves when the rows would survive the end of every process of ours.
   * @throws AppError rate_limited (this organization's queue is full) or overloaded (every queue, or the store is down),
   *   both with `retryAfterMs`; invalid_request when the rows are of too many days, internal when the store refuses them
   */
  append(batch: Batch): Promise<void>;
  /** Whether a row with this hash is durable and was seen today: then it need not be appended again. */
  isKnown(table: TableName, organizationId: string, identity: bigint): boolean;
  open(scope: Scope): TenantReader;
  state(): StoreState;
  /** Bytes of rows that wait or are on their way. */
  queuedBytes(): number;
  /** Statements of queries that wait for their turn. */
  waitingReads(): number;
  /** Resolves when the store is ready for the first time, or again. Rejects when the signal fires. */
  whenReady(signal: AbortSignal): Promise<void>;
  /** Takes no more rows, writes those that it has, ends the embedded process. */
  close(): Promise<void>;
}

/**
 * The telemetry store as the rest of the server sees it: rows are appended for an organization, and read back only
 * through a Scope.
 */
import type { Scope } from "../tenant.ts";
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
  readonly signal?: AbortSignal | undefined;
  /** Default: the setting `telemetry.query_timeout_ms`. */
  readonly timeoutMs?: number | undefined;
  /** More rows than this are an error. Default 100 000. */
  readonly maximumRows?: number | undefined;
}

/** Column name → value: texts, numbers, lists, maps as objects; 64-bit integers and times are decimal texts. */
export type Row = Record<string, unknown>;

/** One organization's data. Every statement sees that organization's rows only, whatever it says. */
export interface TenantReader {
  /**
   * The statement's rows. Name tables plainly (`FROM spans`).
   * @throws AppError overloaded, upstream_timeout, client_closed or internal
   */
  query<Shape extends object = Row>(statement: Statement, options?: QueryOptions): Promise<Shape[]>;
  /** The same, row by row, for answers that are large. Leaving the loop ends the query. */
  stream<Shape extends object = Row>(statement: Statement, options?: QueryOptions): AsyncIterable<Shape>;
}

export interface StoreState {
  readonly ready: boolean;
  /** Why not, for operators. */
  readonly reason?: string | undefined;
}

export interface Store {
  /**
   * Resolves when the rows would survive the end of every process of ours.
   * @throws AppError rate_limited (this organization's queue is full) or overloaded (every queue, or the store is down),
   *   both with `retryAfterMs`; invalid_request when the store finds the rows themselves wrong
   */
  append(batch: Batch): Promise<void>;
  /** Whether a row with this hash is durable and was seen today: then it need not be appended again. */
  isKnown(table: TableName, organizationId: string, identity: bigint): boolean;
  open(scope: Scope): TenantReader;
  state(): StoreState;
  /** Takes no more rows, writes those that it has, ends the embedded process. */
  close(): Promise<void>;
}

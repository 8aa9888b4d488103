/** The interface of what erases one organization's rows for good. docs/adr/0042-deletion-backup-and-move.md */
import type { Scope } from "../tenant.ts";
import type { TableName } from "./schema.ts";
import type { Statement } from "./statement.ts";

/** The tables from which rows can be erased: all that rows are appended to, and the index that is filled from spans. */
export type ErasableTable = TableName | "trace_index";

export interface Erasure {
  readonly table: ErasableTable;
  /** In addition to the organization, which is always compared. Without subqueries: every replica evaluates it itself. */
  readonly condition: Statement;
  readonly signal: AbortSignal;
}

export interface RetentionChange {
  readonly tables: readonly (ErasableTable | "sums")[];
  readonly days: number;
  readonly condition: Statement;
  readonly signal: AbortSignal;
}

/** Every method throws AppErrors as queries do; what was begun can be repeated. */
export interface Eraser {
  /** Resolves when the store has every row of the organization that this server has acknowledged. */
  requireVisible(scope: Scope, signal: AbortSignal): Promise<void>;
  /** Resolves once no query returns the rows and no current file has them. Sums that include them are erased, too. */
  erase(scope: Scope, erasure: Erasure): Promise<void>;
  /** Erases all sums of the organization; they are made again from rows. */
  eraseSums(scope: Scope, signal: AbortSignal): Promise<void>;
  /** Erases what is left of an organization that no longer exists: its sums, and which hours they are of. */
  eraseHours(scope: Scope, signal: AbortSignal): Promise<void>;
  /** Rows of the condition with a longer retention get this one, and go at once if it is over. */
  shortenRetention(scope: Scope, change: RetentionChange): Promise<void>;
  /** Makes writers write the organization's resources, scopes and series again, which may be erased. */
  forgetDescriptions(organizationId: string): void;
  /** The store's clock, in UNIX seconds. */
  now(signal: AbortSignal): Promise<number>;
  /** Whether the files that were replaced until this time of the store's clock are gone from the disk. */
  hasOnlyFilesSince(unixSeconds: number, signal: AbortSignal): Promise<boolean>;
}

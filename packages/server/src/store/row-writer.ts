/** What takes rows: the journal, which inserts after it acknowledges, or the queue, which inserts before. */
import { AppError } from "../errors.ts";
import type { ByteShares, FullShare } from "./byte-shares.ts";
import type { TableName } from "./schema.ts";
import type { AppendOptions, Batch } from "./store.ts";
import { sizeOf } from "./waiting-batch.ts";

export interface RowWriter {
  /** Resolves when the rows are durable. @throws AppError rate_limited, overloaded or internal */
  append(batch: Batch, options?: AppendOptions): Promise<void>;
  /** Bytes of rows whose senders wait. */
  readonly queuedBytes: number;
  /** Accepts no more rows, and writes those that it has, within the write timeout. */
  close(): Promise<void>;
}

/** Rows that are inserted by one statement. */
export interface InsertGroup {
  readonly table: TableName;
  readonly blocks: readonly Uint8Array[];
  readonly organizationIds: ReadonlySet<string>;
  /** The same for retries of the group, so that the store drops duplicates. */
  readonly token: string;
  readonly signal: AbortSignal;
}

/** @throws StoreError */
export type Insert = (group: InsertGroup) => Promise<void>;

/** Each day of an insert becomes a separate part, so an insert over many days would delay everyone. */
export const maximumDays = 100;

/** @throws AppError invalid_request */
export function requireFewDays({ dayCount = 0 }: Batch): void {
  if (dayCount <= maximumDays) return;
  throw new AppError(
    "invalid_request",
    `The rows of a request span more than ${maximumDays} days, which is the limit. Send fewer days per request.`,
  );
}

/** A group is full when it reaches either limit. */
export const fullGroup = { bytes: 16_777_216, rows: 100_000 } as const;

/** Reserves memory for a batch whose sender waits; returns the error if there is none left. */
export function takeMemory(shares: ByteShares, batch: Batch): AppError | undefined {
  const full = shares.take(batch.organizationId, sizeOf(batch));
  return full === undefined ? undefined : noSpace(full, "The telemetry write queue is full. Retry later.");
}

/** @param message for a share that all organizations have filled */
export function noSpace(full: FullShare, message: string): AppError {
  if (full === "total") return notWritten(message);
  return new AppError("rate_limited", "This organization sends telemetry faster than it can be written. Retry later.");
}

/** For rows that did not become durable in time. */
export function notWritten(message: string, cause?: unknown): AppError {
  return new AppError("overloaded", message, { cause, retryAfterMs: 2000 });
}

export function shuttingDown(): AppError {
  return new AppError("overloaded", "The server is shutting down.");
}

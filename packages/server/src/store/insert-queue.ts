/**
 * Queues rows for the store. Batches of many requests are inserted as one group, because an insert costs about the same
 * regardless of its size. Senders are answered once their rows are durable. The queue is bounded in bytes, in total and per
 * organization.
 * docs/adr/0022-telemetry-store.md
 */
import { randomUUID } from "node:crypto";
import { sleep } from "../abort.ts";
import { AppError } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { InsertLane, type WaitingBatch } from "./insert-lane.ts";
import { type TableName, tables } from "./schema.ts";
import { StoreError } from "./store-error.ts";
import type { Batch, WriteReport } from "./store.ts";

export interface Group {
  readonly table: TableName;
  readonly blocks: readonly Uint8Array[];
  readonly organizationIds: ReadonlySet<string>;
  /** The same for retries of the group, so that the store drops duplicates. */
  readonly token: string;
  readonly signal: AbortSignal;
}

export interface InsertQueueOptions {
  /** @throws StoreError */
  readonly insert: (group: Group) => Promise<void>;
  /** Resolves once the store is reachable. */
  readonly whenReady: (signal: AbortSignal) => Promise<void>;
  readonly queueBytes: number;
  readonly organizationQueueBytes: number;
  readonly writeTimeoutMs: number;
  readonly logger: Logger;
  readonly observe: (report: WriteReport) => void;
}

/** How long an idle lane waits for more batches, and the minimum time between two inserts into a table. */
const lingerMs = 5;
const intervalMs = 25;
/** Concurrent inserts into one table; more than one only while groups are full. */
const parallelInserts = 2;
const sweepMs = 100;
const firstRetryMs = 100;
const longestRetryMs = 2000;
/** Room above the limit for organizations that use less than their share, so that other organizations cannot fill the whole queue. */
const reserve = 1.25;
/** Each day of an insert becomes a separate part, so an insert over many days would delay everyone. */
export const maximumDays = 100;
/** The memory of a batch in addition to its bytes. */
const batchOverheadBytes = 512;

interface Lane {
  readonly table: TableName;
  readonly waiting: InsertLane;
  running: number;
  lastStartMs: number;
  timer: NodeJS.Timeout | undefined;
}

function sizeOf({ block }: Batch): number {
  return block.length + batchOverheadBytes;
}

export class InsertQueue {
  readonly #options: InsertQueueOptions;
  readonly #lanes: ReadonlyMap<TableName, Lane>;
  readonly #running = new Set<WaitingBatch>();
  readonly #bytesOf = new Map<string, number>();
  readonly #ending = new AbortController();
  #bytes = 0;
  #sweeping: NodeJS.Timeout | undefined;
  #closed = false;
  #whenEmpty: (() => void) | undefined;

  constructor(options: InsertQueueOptions) {
    this.#options = options;
    this.#lanes = new Map(
      (Object.keys(tables) as TableName[]).map((table) => [
        table,
        { table, waiting: new InsertLane(), running: 0, lastStartMs: -Infinity, timer: undefined },
      ]),
    );
  }

  /** Bytes of rows that are queued or being inserted. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Resolves when the rows are durable. @throws AppError rate_limited, overloaded, invalid_request or internal */
  async append(batch: Batch): Promise<void> {
    const refusal = this.#admit(batch);
    if (refusal !== undefined) {
      this.#report(batch.table, [batch], refusal);
      throw refusal;
    }
    await new Promise<void>((resolve, reject) => {
      const waiting: WaitingBatch = {
        batch,
        deadlineMs: performance.now() + this.#options.writeTimeoutMs,
        settled: false,
        resolve,
        reject,
      };
      const lane = this.#lanes.get(batch.table)!;
      lane.waiting.add(waiting);
      this.#sweeping ??= setInterval(() => this.#sweep(), sweepMs);
      this.#schedule(lane);
    });
  }

  /** Accepts no more batches, and writes the queued ones until their deadlines. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#bytes > 0) await new Promise<void>((resolve) => (this.#whenEmpty = resolve));
    this.#ending.abort();
    clearInterval(this.#sweeping);
  }

  /** Reserves memory for the batch; returns the error if there is none left. */
  #admit(batch: Batch): AppError | undefined {
    const { queueBytes, organizationQueueBytes } = this.#options;
    if (this.#closed) return new AppError("overloaded", "The server is shutting down.");
    const size = sizeOf(batch);
    const own = this.#bytesOf.get(batch.organizationId) ?? 0;
    // A batch above the limit is accepted if its organization has nothing queued; otherwise it could never be written.
    if (own > 0 && own + size > organizationQueueBytes) {
      return new AppError(
        "rate_limited",
        "This organization sends telemetry faster than it can be written. Retry later.",
      );
    }
    const wanted = this.#bytes + size;
    const organizations = this.#bytesOf.size + (own === 0 ? 1 : 0);
    const isWithinShare = own + size <= queueBytes / organizations && wanted <= reserve * queueBytes;
    if (this.#bytes > 0 && wanted > queueBytes && !isWithinShare) {
      return new AppError("overloaded", "The telemetry write queue is full. Retry later.", {
        retryAfterMs: 2000,
      });
    }
    this.#bytesOf.set(batch.organizationId, own + size);
    this.#bytes += size;
    return undefined;
  }

  #release({ batch }: WaitingBatch): void {
    const size = sizeOf(batch);
    const left = this.#bytesOf.get(batch.organizationId)! - size;
    if (left > 0) this.#bytesOf.set(batch.organizationId, left);
    else this.#bytesOf.delete(batch.organizationId);
    this.#bytes -= size;
    if (this.#bytes > 0) return;
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
    this.#whenEmpty?.();
  }

  /** Starts the lane's next group now, after a delay, or when a running one has ended. */
  #schedule(lane: Lane): void {
    if (lane.waiting.isEmpty) return;
    if (lane.waiting.isFull && lane.running < parallelInserts) {
      this.#start(lane);
      return;
    }
    if (lane.running > 0 || lane.timer !== undefined) return;
    const waitMs = Math.max(lingerMs, lane.lastStartMs + intervalMs - performance.now());
    lane.timer = setTimeout(() => {
      lane.timer = undefined;
      if (lane.running === 0 && !lane.waiting.isEmpty) this.#start(lane);
    }, waitMs);
  }

  #start(lane: Lane): void {
    clearTimeout(lane.timer);
    lane.timer = undefined;
    lane.running += 1;
    lane.lastStartMs = performance.now();
    const group = lane.waiting.takeGroup();
    for (const waiting of group) this.#running.add(waiting);
    void this.#write(lane.table, group).finally(() => {
      for (const waiting of group) {
        this.#running.delete(waiting);
        this.#release(waiting);
      }
      lane.running -= 1;
      this.#schedule(lane);
    });
  }

  /** Settles every batch of the group; never rejects. */
  async #write(table: TableName, group: readonly WaitingBatch[]): Promise<void> {
    const wanted = group.filter(({ settled }) => !settled);
    if (wanted.length === 0) return;
    const batches = wanted.map(({ batch }) => batch);
    const startMs = performance.now();
    try {
      await this.#insertUntil(table, wanted);
      for (const waiting of wanted) settle(waiting);
      this.#report(table, batches, undefined, performance.now() - startMs);
    } catch (error) {
      if (isRefusal(error) && wanted.length > 1) {
        // Some batch is invalid, or the combination is: insert each separately, so that the valid ones are kept.
        for (const waiting of wanted) await this.#write(table, [waiting]);
        return;
      }
      this.#options.logger.error({ error, table, batches: wanted.length }, "telemetry could not be written");
      const refusal = toWriteError(error);
      for (const waiting of wanted) settle(waiting, refusal);
      this.#report(table, batches, refusal, performance.now() - startMs);
    }
  }

  #report(table: TableName, batches: readonly Batch[], error?: AppError, durationMs?: number): void {
    const rows = batches.reduce((sum, { rowCount }) => sum + rowCount, 0);
    const outcome = error === undefined ? "written" : (error.code as WriteReport["outcome"]);
    this.#options.observe({ table, rows, outcome, durationMs });
  }

  /** Retries while the failure is transient and a sender still waits. @throws StoreError the last failure */
  async #insertUntil(table: TableName, group: readonly WaitingBatch[]): Promise<void> {
    const token = randomUUID();
    const blocks = group.map(({ batch }) => batch.block);
    const organizationIds = new Set(group.map(({ batch }) => batch.organizationId));
    const deadlineMs = Math.max(...group.map((waiting) => waiting.deadlineMs));
    for (let tries = 0; ; tries += 1) {
      const leftMs = Math.max(1, Math.ceil(deadlineMs - performance.now()));
      const signal = AbortSignal.any([AbortSignal.timeout(leftMs), this.#ending.signal]);
      try {
        await this.#options.whenReady(signal);
        await this.#options.insert({ table, blocks, organizationIds, token, signal });
        return;
      } catch (error) {
        if (isRefusal(error) || signal.aborted) throw error;
        this.#options.logger.warn({ error, table, tries }, "telemetry can be written again after a failure");
        await sleep(Math.min(longestRetryMs, firstRetryMs * 2 ** tries), signal);
      }
    }
  }

  /** Rejects batches past their deadline. Their rows may still be stored; duplicates from a retry are dropped. */
  #sweep(): void {
    const now = performance.now();
    const isLate = ({ deadlineMs, settled }: WaitingBatch): boolean => deadlineMs <= now && !settled;
    const lanes = [...this.#lanes.values()];
    const late = [...this.#running, ...lanes.flatMap(({ waiting }) => [...waiting.waiting()])].filter(isLate);
    for (const waiting of late) settle(waiting, toWriteError(undefined));
  }
}

function settle(waiting: WaitingBatch, error?: AppError): void {
  if (waiting.settled) return;
  waiting.settled = true;
  if (error === undefined) waiting.resolve();
  else waiting.reject(error);
}

/** The store rejects these rows permanently. */
function isRefusal(error: unknown): error is StoreError {
  return error instanceof StoreError && error.outlook !== "transient" && error.outlook !== "too_slow";
}

function toWriteError(cause: unknown): AppError {
  if (!isRefusal(cause)) {
    return new AppError("overloaded", "The telemetry store did not accept the rows in time. Retry later.", {
      cause,
      retryAfterMs: 2000,
    });
  }
  if (cause.outlook === "too_scattered") {
    return new AppError(
      "invalid_request",
      `The rows of a request span more than ${maximumDays} days, which is the limit. Send fewer days per request.`,
      { cause },
    );
  }
  return new AppError("internal", "The telemetry store rejected these rows.", { cause });
}

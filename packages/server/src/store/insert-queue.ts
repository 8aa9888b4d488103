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
import { type ByteLimits, ByteShares } from "./byte-shares.ts";
import { InsertLane } from "./insert-lane.ts";
import { type Insert, notWritten, type RowWriter, shuttingDown, takeMemory } from "./row-writer.ts";
import { type TableName, tables } from "./schema.ts";
import { StoreError } from "./store-error.ts";
import type { Batch, WriteReport } from "./store.ts";
import { settle, sizeOf, type WaitingBatch } from "./waiting-batch.ts";

export interface InsertQueueOptions {
  readonly insert: Insert;
  /** Resolves once the store is reachable. */
  readonly whenReady: (signal: AbortSignal) => Promise<void>;
  readonly queue: ByteLimits;
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

interface Lane {
  readonly table: TableName;
  readonly waiting: InsertLane;
  running: number;
  lastStartMs: number;
  timer: NodeJS.Timeout | undefined;
}

export class InsertQueue implements RowWriter {
  readonly #options: InsertQueueOptions;
  readonly #lanes: ReadonlyMap<TableName, Lane>;
  readonly #running = new Set<WaitingBatch>();
  readonly #shares: ByteShares;
  readonly #ending = new AbortController();
  #sweeping: NodeJS.Timeout | undefined;
  #closed = false;
  #whenEmpty: (() => void) | undefined;

  constructor(options: InsertQueueOptions) {
    this.#options = options;
    this.#shares = new ByteShares(options.queue);
    this.#lanes = new Map(
      (Object.keys(tables) as TableName[]).map((table) => [
        table,
        { table, waiting: new InsertLane(), running: 0, lastStartMs: -Infinity, timer: undefined },
      ]),
    );
  }

  get queuedBytes(): number {
    return this.#shares.bytes;
  }

  /** Resolves when the rows are durable. @throws AppError rate_limited, overloaded, invalid_request or internal */
  async append(batch: Batch): Promise<void> {
    const refusal = this.#closed ? shuttingDown() : takeMemory(this.#shares, batch);
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
    if (this.#shares.bytes > 0) await new Promise<void>((resolve) => (this.#whenEmpty = resolve));
    this.#ending.abort();
    clearInterval(this.#sweeping);
  }

  #release({ batch }: WaitingBatch): void {
    this.#shares.release(batch.organizationId, sizeOf(batch));
    if (this.#shares.bytes > 0) return;
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

/** The store rejects these rows permanently. */
function isRefusal(error: unknown): error is StoreError {
  return error instanceof StoreError && error.kind !== "transient" && error.kind !== "too_slow";
}

function toWriteError(cause: unknown): AppError {
  if (!isRefusal(cause)) return notWritten("The telemetry store did not accept the rows in time. Retry later.", cause);
  return new AppError("internal", "The telemetry store rejected these rows.", { cause });
}

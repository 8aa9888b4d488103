/**
 * The write-ahead journal in front of the store. Rows of many requests are appended to a file, flushed together, acknowledged,
 * and inserted in large groups up to a second later. What a crash leaves in the files is inserted at the next start.
 * docs/adr/0020-telemetry-ingest-and-journal.md
 */
import type { AppError } from "../../errors.ts";
import { ByteShares, type ByteLimits } from "../byte-shares.ts";
import { fullGroup, noSpace, notWritten, type RowWriter, shuttingDown, takeMemory } from "../row-writer.ts";
import type { AppendOptions, Batch } from "../store.ts";
import { settle, sizeOf } from "../waiting-batch.ts";
import { DrainQueue } from "./drain-queue.ts";
import type { DrainParts } from "./drain-segment.ts";
import { type AppendedBatch, GroupCommit } from "./group-commit.ts";
import { JournalDirectory } from "./journal-directory.ts";
import { earlierServer, Segment } from "./segment.ts";

export interface JournalOptions extends Omit<DrainParts, "signal" | "count"> {
  /** The journal's folder. */
  readonly directory: string;
  /** Where rows are kept that the store refuses; absent: a folder in the journal's. */
  readonly refusedDirectory?: string | undefined;
  /** Memory of rows whose senders wait. */
  readonly queue: ByteLimits;
  /** Rows that are not in the store yet, on the disk. */
  readonly journal: ByteLimits;
  readonly writeTimeoutMs: number;
}

/** How long the first row of a segment waits for others, and the minimum time between two segments. */
const lingerMs = 100;
const intervalMs = 1000;
/** How long a segment waits for the end of the drain before it. */
const longestWaitMs = 5000;
const sweepMs = 100;

export class Journal implements RowWriter {
  readonly #options: JournalOptions;
  readonly #commits: GroupCommit;
  readonly #drains: DrainQueue;
  readonly #ending = new AbortController();
  readonly #queued: ByteShares;
  readonly #stored: ByteShares;
  /** Batches that wait until the journal has space, in order of arrival. */
  #waitingForSpace: AppendedBatch[] = [];
  /** Every segment with rows that are not in the store yet. */
  readonly #segments = new Set<Segment>();
  #lastSealMs = -Infinity;
  #sealTimer: NodeJS.Timeout | undefined;
  #sweeping: NodeJS.Timeout | undefined;
  /** A query waits for rows of the active segment. */
  #isWanted = false;
  #closed = false;

  private constructor(options: JournalOptions, directory: JournalDirectory) {
    const { insert, whenReady, logger, observe } = options;
    this.#options = options;
    this.#queued = new ByteShares(options.queue);
    this.#stored = new ByteShares(options.journal);
    this.#drains = new DrainQueue({
      directory,
      insert,
      whenReady,
      logger,
      observe,
      signal: this.#ending.signal,
      onDrained: (segment) => this.#onDrained(segment),
    });
    this.#commits = new GroupCommit({
      directory,
      logger,
      onOpened: (segment) => this.#segments.add(segment),
      onSealed: (segment) => this.#onSealed(segment),
      onCommitted: (group, isInSegment) => this.#onCommitted(group, isInSegment),
    });
  }

  /** Also begins to insert what an earlier server left. @throws Error of the file system */
  static async open(options: JournalOptions): Promise<Journal> {
    const directory = await JournalDirectory.open(options.directory, options.refusedDirectory);
    const journal = new Journal(options, directory);
    const left = await directory.leftSegments();
    if (left.length > 0) options.logger.info({ segments: left.length }, "the journal has rows of an earlier server");
    for (const { bytes, ...name } of left) {
      const segment = new Segment(name);
      segment.count(earlierServer, bytes);
      journal.#stored.add(earlierServer, bytes);
      journal.#segments.add(segment);
      journal.#drains.add(segment);
    }
    return journal;
  }

  get queuedBytes(): number {
    return this.#queued.bytes;
  }

  /** Bytes of rows that are not in the store yet. */
  get bytes(): number {
    return this.#stored.bytes;
  }

  async append(batch: Batch, { durability = "synced" }: AppendOptions = {}): Promise<void> {
    const refusal = this.#closed ? shuttingDown() : takeMemory(this.#queued, batch);
    if (refusal !== undefined) throw this.#refused(batch, refusal);
    await new Promise<void>((resolve, reject) => {
      const appended: AppendedBatch = {
        batch,
        deadlineMs: performance.now() + this.#options.writeTimeoutMs,
        settled: false,
        isSynced: durability === "synced",
        resolve,
        reject: (error) => reject(this.#refused(batch, error as AppError)),
      };
      this.#sweeping ??= setInterval(() => this.#sweep(), sweepMs);
      if (this.#hasWaiting(batch.organizationId) || !this.#enter(appended)) this.#waitingForSpace.push(appended);
    });
  }

  /** Resolves when queries see every row of the organization that is acknowledged now; undefined if they do. */
  whenVisible(organizationId: string): Promise<void> | undefined {
    const segments = [...this.#segments].filter((segment) => segment.mayHold(organizationId));
    if (segments.length === 0) return undefined;
    if (segments.includes(this.#commits.active!)) {
      this.#isWanted = true;
      this.#sealIfDue();
    }
    return Promise.all(segments.map(({ drained }) => drained)).then(() => {});
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const appended of this.#waitingForSpace) this.#refuse(appended, shuttingDown());
    this.#waitingForSpace = [];
    await this.#commits.close();
    clearTimeout(this.#sealTimer);
    const deadline = setTimeout(() => this.#ending.abort(), this.#options.writeTimeoutMs);
    await this.#drains.whenIdle();
    clearTimeout(deadline);
    if (this.#segments.size === 0) return;
    this.#options.logger.warn(
      { segments: this.#segments.size, bytes: this.bytes },
      "the journal keeps rows that the telemetry store did not take in time; the next start inserts them",
    );
  }

  #refused({ table, rowCount }: Batch, error: AppError): AppError {
    this.#options.observe({ table, rows: rowCount, outcome: error.code as "rate_limited" | "overloaded" });
    return error;
  }

  /** Whether batches of the organization wait for space; later ones must not overtake them. */
  #hasWaiting(organizationId: string): boolean {
    return this.#waitingForSpace.some(({ batch }) => batch.organizationId === organizationId);
  }

  /** Returns false if the journal has no space for the batch. */
  #enter(appended: AppendedBatch): boolean {
    const { organizationId } = appended.batch;
    if (this.#stored.take(organizationId, sizeOf(appended.batch)) !== undefined) return false;
    this.#commits.add(appended);
    return true;
  }

  #refuse(appended: AppendedBatch, error: AppError): void {
    settle(appended, error);
    this.#release(appended);
  }

  #onCommitted(group: readonly AppendedBatch[], isInSegment: boolean): void {
    for (const appended of group) {
      this.#release(appended);
      const { batch } = appended;
      if (!isInSegment) this.#stored.release(batch.organizationId, sizeOf(batch));
    }
    this.#sealIfDue();
  }

  /** Frees the memory of a batch whose sender has been answered. */
  #release({ batch }: AppendedBatch): void {
    this.#queued.release(batch.organizationId, sizeOf(batch));
    if (this.#queued.bytes > 0) return;
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
  }

  /** Small segments wait for the drains before them, so that many queries cannot cause many small inserts. */
  #sealIfDue(): void {
    const { active } = this.#commits;
    if (active === undefined || this.#closed) return;
    if (active.writer!.bytes >= fullGroup.bytes) return this.#commits.seal();
    if (!this.#drains.hasRoom) return;
    const waitMs = this.#dueMs(active) - performance.now();
    if (waitMs <= 0) return this.#commits.seal();
    clearTimeout(this.#sealTimer);
    this.#sealTimer = setTimeout(() => this.#sealIfDue(), waitMs);
  }

  #dueMs(active: Segment): number {
    // A segment that the store does not take must not hold up the next one.
    if (!this.#drains.isIdle) return active.openedMs + longestWaitMs;
    return this.#isWanted ? 0 : Math.max(active.openedMs + lingerMs, this.#lastSealMs + intervalMs);
  }

  #onSealed(segment: Segment): void {
    clearTimeout(this.#sealTimer);
    this.#isWanted = false;
    this.#lastSealMs = performance.now();
    this.#drains.add(segment);
  }

  #onDrained(segment: Segment): void {
    this.#segments.delete(segment);
    for (const [organizationId, bytes] of segment.bytesOf) this.#stored.release(organizationId, bytes);
    segment.setDrained();
    const blocked = new Set<string>();
    this.#waitingForSpace = this.#waitingForSpace.filter((appended) => {
      const { organizationId } = appended.batch;
      if (!blocked.has(organizationId) && this.#enter(appended)) return false;
      blocked.add(organizationId);
      return true;
    });
    this.#sealIfDue();
  }

  /** Answers senders whose time is over. Rows that are being written may still be stored; duplicates from a retry are dropped. */
  #sweep(): void {
    const now = performance.now();
    const isLate = ({ deadlineMs, settled }: AppendedBatch): boolean => deadlineMs <= now && !settled;
    for (const appended of this.#commits.waiting().filter(isLate))
      settle(appended, notWritten("The disk did not accept the telemetry in time. Retry later."));
    for (const appended of this.#waitingForSpace.filter(isLate)) this.#refuse(appended, this.#noSpace(appended.batch));
    this.#waitingForSpace = this.#waitingForSpace.filter(({ settled }) => !settled);
  }

  #noSpace(batch: Batch): AppError {
    return noSpace(
      this.#stored.fullFor(batch.organizationId, sizeOf(batch)) ?? "total",
      "The telemetry journal is full, because the store does not accept rows fast enough. Retry later.",
    );
  }
}

/** Writes batches to the active segment and flushes those of many senders together. */
import type { Logger } from "../../logger.ts";
import { fullGroup, notWritten } from "../row-writer.ts";
import { settle, sizeOf, type WaitingBatch } from "../waiting-batch.ts";
import type { JournalDirectory } from "./journal-directory.ts";
import { Segment } from "./segment.ts";
import { SegmentWriter } from "./segment-file.ts";

export interface AppendedBatch extends WaitingBatch {
  /** Whether the sender waits until the rows are flushed to the disk. */
  readonly isSynced: boolean;
}

export interface GroupCommitOptions {
  readonly directory: JournalDirectory;
  readonly logger: Logger;
  readonly onOpened: (segment: Segment) => void;
  /** The segment gets no more rows. */
  readonly onSealed: (segment: Segment) => void;
  /** The senders of these batches have their responses. @param isInSegment whether a segment has counted the batches */
  readonly onCommitted: (group: readonly AppendedBatch[], isInSegment: boolean) => void;
}

/** The minimum time between the starts of two flushes: each costs about 0.4 ms of CPU. */
const intervalMs = 5;
/** The system takes this many batches in one call. */
const mostBatches = 500;

export class GroupCommit {
  readonly #options: GroupCommitOptions;
  #arrived: AppendedBatch[] = [];
  #running: readonly AppendedBatch[] = [];
  #active: Segment | undefined;
  #timer: NodeJS.Timeout | NodeJS.Immediate | undefined;
  #lastStartMs = -Infinity;
  #isSealRequested = false;
  #whenIdle: (() => void) | undefined;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  /** The segment that gets the next rows, if it has some already. */
  get active(): Segment | undefined {
    return this.#active;
  }

  add(batch: AppendedBatch): void {
    this.#arrived.push(batch);
    this.#schedule();
  }

  /** The batches whose senders wait. */
  waiting(): readonly AppendedBatch[] {
    return [...this.#running, ...this.#arrived];
  }

  /** Ends the active segment, after the running flush. */
  seal(): void {
    if (this.#running.length > 0) this.#isSealRequested = true;
    else this.#seal();
  }

  /** Resolves when all batches are written and the last segment is sealed. */
  async close(): Promise<void> {
    if (this.#running.length > 0 || this.#arrived.length > 0)
      await new Promise<void>((resolve) => (this.#whenIdle = resolve));
    this.#seal();
  }

  #schedule(): void {
    if (this.#running.length > 0 || this.#timer !== undefined) return;
    if (this.#arrived.length === 0) {
      this.#whenIdle?.();
      return;
    }
    const start = (): void => {
      this.#timer = undefined;
      void this.#commit();
    };
    const waitMs = this.#lastStartMs + intervalMs - performance.now();
    // Even without a wait, the other batches of the same request come first.
    this.#timer = waitMs > 0 ? setTimeout(start, waitMs) : setImmediate(start);
  }

  #takeGroup(): AppendedBatch[] {
    let bytes = 0;
    const end = this.#arrived.findIndex(({ batch }, index) => {
      const isFull = index >= mostBatches || bytes >= fullGroup.bytes;
      bytes += batch.block.length;
      return isFull;
    });
    return this.#arrived.splice(0, end < 0 ? this.#arrived.length : end);
  }

  /** Never rejects. */
  async #commit(): Promise<void> {
    const { logger, onCommitted } = this.#options;
    this.#lastStartMs = performance.now();
    const group = this.#takeGroup();
    this.#running = group;
    let isInSegment = false;
    try {
      const segment = (this.#active ??= await this.#open());
      for (const { batch } of group) segment.count(batch.organizationId, sizeOf(batch));
      isInSegment = true;
      await segment.writer!.append(group.map(({ batch }) => batch));
      for (const appended of group) if (!appended.isSynced) settle(appended);
      if (group.some(({ isSynced }) => isSynced)) await segment.writer!.sync();
      for (const appended of group) settle(appended);
    } catch (error) {
      logger.error({ error, batches: group.length }, "the telemetry journal could not be written");
      // Nobody knows what the disk has of these rows, so nothing is ever appended to that segment again.
      this.#isSealRequested = true;
      const refusal = notWritten("The telemetry could not be written to the disk. Retry later.", error);
      for (const appended of group) settle(appended, refusal);
    }
    this.#running = [];
    if (this.#isSealRequested) this.#seal();
    onCommitted(group, isInSegment);
    this.#schedule();
  }

  async #open(): Promise<Segment> {
    const { directory, onOpened } = this.#options;
    const name = directory.next();
    const writer = await SegmentWriter.create(name.path);
    try {
      await directory.sync();
    } catch (error) {
      await writer.discard(name.path);
      throw error;
    }
    const segment = new Segment(name, writer);
    onOpened(segment);
    return segment;
  }

  #seal(): void {
    this.#isSealRequested = false;
    const segment = this.#active;
    if (segment === undefined) return;
    this.#active = undefined;
    this.#options.onSealed(segment);
  }
}

/** Inserts sealed segments in order, up to two at a time, and removes their files. */
import { rm } from "node:fs/promises";
import { sleep } from "../../abort.ts";
import type { Logger } from "../../logger.ts";
import { drainSegment, type DrainParts } from "./drain-segment.ts";
import type { JournalDirectory } from "./journal-directory.ts";
import type { JournalRecord } from "./record.ts";
import type { Segment } from "./segment.ts";
import { readSegment, SegmentWriter } from "./segment-file.ts";

export interface DrainQueueOptions extends DrainParts {
  readonly directory: JournalDirectory;
  /** The segment's rows are in the store, and its file is gone. */
  readonly onDrained: (segment: Segment) => void;
}

const parallelSegments = 2;
const retryMs = 5000;

export class DrainQueue {
  readonly #options: DrainQueueOptions;
  readonly #sealed: Segment[] = [];
  #running = 0;
  /** Resolves when the rows that other rows refer to are in, of all segments before the next one. */
  #referred: Promise<void> = Promise.resolve();
  #whenIdle: (() => void) | undefined;

  constructor(options: DrainQueueOptions) {
    this.#options = options;
  }

  get isIdle(): boolean {
    return this.#running === 0;
  }

  add(segment: Segment): void {
    this.#sealed.push(segment);
    this.#start();
  }

  /** Resolves when everything is inserted, or the signal of the options has fired. */
  async whenIdle(): Promise<void> {
    if (!this.isIdle) await new Promise<void>((resolve) => (this.#whenIdle = resolve));
  }

  #start(): void {
    while (this.#running < parallelSegments && this.#sealed.length > 0) {
      const segment = this.#sealed.shift()!;
      const before = this.#referred;
      const referred = Promise.withResolvers<void>();
      this.#referred = referred.promise;
      this.#running += 1;
      void this.#drain(segment, before, referred.resolve).then((isDrained) => {
        referred.resolve();
        this.#running -= 1;
        if (isDrained) this.#options.onDrained(segment);
        this.#start();
        if (this.isIdle) this.#whenIdle?.();
      });
    }
  }

  /**
   * Never rejects. Returns whether the segment is gone; what cannot be inserted before the signal fires stays in its file.
   * What was inserted before a failure is dropped by the store when it is inserted again.
   */
  async #drain(segment: Segment, before: Promise<void>, afterReferred: () => void): Promise<boolean> {
    const { directory, logger, signal } = this.#options;
    const { name } = segment;
    await closeWriter(segment, logger);
    while (!signal.aborted) {
      try {
        const records = await this.#read(segment);
        await before;
        const refused = await drainSegment(name.id, records, this.#options, afterReferred);
        if (refused.length > 0) await this.#keep(segment, refused);
        await directory.remove(name);
        return true;
      } catch (error) {
        if (signal.aborted) break;
        logger.error({ error, segment: name.id }, "a segment of the journal could not be inserted; trying again");
        await sleep(retryMs, signal);
      }
    }
    return false;
  }

  async #read({ name }: Segment): Promise<readonly JournalRecord[]> {
    const { directory, logger } = this.#options;
    try {
      const { records, validBytes, bytes } = await readSegment(name.path);
      if (validBytes < bytes) {
        logger.warn(
          { segment: name.id, cut_bytes: bytes - validBytes },
          "the end of a segment of the journal was not written completely and is left out; no acknowledged rows are in it",
        );
      }
      return records;
    } catch (error) {
      const place = await directory.setAside(name);
      logger.error({ error, place }, "a segment of the journal cannot be read and is set aside");
      return [];
    }
  }

  /** Writes the records where an operator finds them. */
  async #keep(segment: Segment, refused: readonly JournalRecord[]): Promise<void> {
    const { directory, logger } = this.#options;
    const path = await directory.refusedPath(segment.name);
    // An attempt before this one may have written a part of it.
    await rm(path, { force: true });
    const writer = await SegmentWriter.create(path);
    try {
      await writer.append(refused);
    } finally {
      await writer.close();
    }
    logger.error({ path }, "rows that the telemetry store refuses are in this file");
  }
}

/** A failed flush concerns rows that nobody was promised: those with a promise were flushed before it. */
async function closeWriter({ name, writer }: Segment, logger: Logger): Promise<void> {
  try {
    await writer?.close();
  } catch (error) {
    logger.warn({ error, segment: name.id }, "a segment of the journal could not be flushed");
  }
}

/** A segment of the journal from its first record until its rows are in the store. */
import type { SegmentName } from "./journal-directory.ts";
import type { SegmentWriter } from "./segment-file.ts";

/** Whose bytes those of an earlier server are counted as: which organizations they belong to is known when they are read. */
export const earlierServer = "";

export class Segment {
  readonly name: SegmentName;
  /** Undefined for the segment of an earlier server. */
  readonly writer: SegmentWriter | undefined;
  readonly openedMs = performance.now();
  /** Bytes of rows by organization. */
  readonly bytesOf = new Map<string, number>();
  readonly #drained = Promise.withResolvers<void>();

  constructor(name: SegmentName, writer?: SegmentWriter) {
    this.name = name;
    this.writer = writer;
  }

  /** Resolves when queries see the rows. */
  get drained(): Promise<void> {
    return this.#drained.promise;
  }

  count(organizationId: string, bytes: number): void {
    this.bytesOf.set(organizationId, (this.bytesOf.get(organizationId) ?? 0) + bytes);
  }

  mayHold(organizationId: string): boolean {
    return this.bytesOf.has(organizationId) || this.bytesOf.has(earlierServer);
  }

  setDrained(): void {
    this.#drained.resolve();
  }
}

/** Batches of one table that wait to be written, and how they become groups: organizations take turns. */
import type { Batch } from "./store.ts";

/** A batch whose sender waits. */
export interface WaitingBatch {
  readonly batch: Batch;
  /** On the clock of `performance.now()`: when the sender is told to come again. */
  readonly deadlineMs: number;
  /** The sender was answered; what is left is only to give the memory back. */
  settled: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A group is full at either of these. */
const fullBytes = 16_777_216;
const fullRows = 100_000;

export class InsertLane {
  readonly #byOrganization = new Map<string, WaitingBatch[]>();
  #bytes = 0;
  #rows = 0;

  get isEmpty(): boolean {
    return this.#byOrganization.size === 0;
  }

  get isFull(): boolean {
    return this.#bytes >= fullBytes || this.#rows >= fullRows;
  }

  add(waiting: WaitingBatch): void {
    const { organizationId, block, rowCount } = waiting.batch;
    const queue = this.#byOrganization.get(organizationId);
    if (queue === undefined) this.#byOrganization.set(organizationId, [waiting]);
    else queue.push(waiting);
    this.#bytes += block.length;
    this.#rows += rowCount;
  }

  /**
   * The next group: one batch of each organization in turn until the group is full. Who came last in this group comes
   * last in the next one too, so that many small senders and one flood share evenly.
   */
  takeGroup(): WaitingBatch[] {
    const group: WaitingBatch[] = [];
    let bytes = 0;
    let rows = 0;
    while (this.#byOrganization.size > 0 && bytes < fullBytes && rows < fullRows) {
      const [organizationId, queue] = this.#byOrganization.entries().next().value!;
      const waiting = queue.shift()!;
      // Taken out and put in again, it stands behind all the others.
      this.#byOrganization.delete(organizationId);
      if (queue.length > 0) this.#byOrganization.set(organizationId, queue);
      group.push(waiting);
      bytes += waiting.batch.block.length;
      rows += waiting.batch.rowCount;
    }
    this.#bytes -= bytes;
    this.#rows -= rows;
    return group;
  }

  /** Every batch that waits, for those whose time is up. */
  *waiting(): Iterable<WaitingBatch> {
    for (const queue of this.#byOrganization.values()) yield* queue;
  }
}

/** Queues the batches of one table and forms groups of them, round-robin over organizations. */
import { fullGroup } from "./row-writer.ts";
import type { WaitingBatch } from "./waiting-batch.ts";

export class InsertLane {
  readonly #byOrganization = new Map<string, WaitingBatch[]>();
  #bytes = 0;
  #rows = 0;

  get isEmpty(): boolean {
    return this.#byOrganization.size === 0;
  }

  get isFull(): boolean {
    return this.#bytes >= fullGroup.bytes || this.#rows >= fullGroup.rows;
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
   * The next group: one batch of each organization in turn until the group is full. The last organization of this group is
   * also last in the next one, so that many small senders and one large one share evenly.
   */
  takeGroup(): WaitingBatch[] {
    const group: WaitingBatch[] = [];
    let bytes = 0;
    let rows = 0;
    while (this.#byOrganization.size > 0 && bytes < fullGroup.bytes && rows < fullGroup.rows) {
      const [organizationId, queue] = this.#byOrganization.entries().next().value!;
      const waiting = queue.shift()!;
      // Deleting and inserting it again moves it to the end.
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

  /** All queued batches, to find those past their deadline. */
  *waiting(): Iterable<WaitingBatch> {
    for (const queue of this.#byOrganization.values()) yield* queue;
  }
}

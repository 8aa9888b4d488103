/** The parts of one exchange with the ledger, and who gets the answers. */
import type { BucketAnswer, BucketRequest, LedgerAnswer, SlotAnswer, SlotRequest } from "./limit-ledger.ts";

export class ExchangeDraft {
  readonly buckets: BucketRequest[] = [];
  readonly slots: SlotRequest[] = [];
  readonly #bucketReceivers: ((answer: BucketAnswer) => void)[] = [];
  readonly #slotReceivers: ((answer: SlotAnswer) => void)[] = [];

  addBucket(request: BucketRequest, receive: (answer: BucketAnswer) => void): void {
    this.buckets.push(request);
    this.#bucketReceivers.push(receive);
  }

  addSlots(request: SlotRequest, receive: (answer: SlotAnswer) => void): void {
    this.slots.push(request);
    this.#slotReceivers.push(receive);
  }

  /** @throws Error if the answer does not fit the request */
  receive({ buckets, slots }: LedgerAnswer): void {
    if (buckets.length !== this.buckets.length || slots.length !== this.slots.length) {
      throw new Error("The answer of the ledger does not fit the request.");
    }
    for (const [index, receive] of this.#bucketReceivers.entries()) receive(buckets[index]!);
    for (const [index, receive] of this.#slotReceivers.entries()) receive(slots[index]!);
  }
}

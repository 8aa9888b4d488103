/** The ledger in the memory of one process. It defines what every ledger answers. */
import { bucketExpiryMs, settleBucket, type BucketAccount } from "./bucket-account.ts";
import type { LedgerAnswer, LedgerRequest, LimitLedger } from "./limit-ledger.ts";
import { settleSlots, slotExpiryMs, type SlotAccount } from "./slot-account.ts";

export class MemoryLedger implements LimitLedger {
  readonly #now: () => number;
  readonly #buckets = new ExpiringMap<BucketAccount>();
  readonly #slots = new ExpiringMap<SlotAccount>();

  /** @param now milliseconds; absent: a clock that never jumps */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Buckets and groups of slots in memory. */
  get size(): number {
    return this.#buckets.size + this.#slots.size;
  }

  /** Like `exchange`, at once. */
  exchangeNow(request: LedgerRequest): LedgerAnswer {
    const nowMs = this.#now();
    const { leaseMs } = request;
    return {
      buckets: request.buckets.map((each) => {
        const { account, answer } = settleBucket(this.#buckets.get(each.id), each, { nowMs, leaseMs });
        this.#buckets.set(each.id, account, { nowMs, expiresMs: bucketExpiryMs(account, each, leaseMs) });
        return answer;
      }),
      slots: request.slots.map((each) => {
        const { account, answer } = settleSlots(this.#slots.get(each.id), each, { ...request, nowMs });
        this.#slots.set(each.id, account, { nowMs, expiresMs: slotExpiryMs(account) });
        return answer;
      }),
    };
  }

  async exchange(request: LedgerRequest): Promise<LedgerAnswer> {
    return this.exchangeNow(request);
  }

  async close(): Promise<void> {}
}

/** More than one per insert, so that deletions keep up with inserts. */
const checkedPerInsert = 4;

/** Each insert checks a few other entries in rotation, and deletes those that have expired. */
class ExpiringMap<T> {
  readonly #entries = new Map<string, { value: T; expiresMs: number }>();

  get size(): number {
    return this.#entries.size;
  }

  get(id: string): T | undefined {
    return this.#entries.get(id)?.value;
  }

  set(id: string, value: T, { nowMs, expiresMs }: { readonly nowMs: number; readonly expiresMs: number }): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined) {
      entry.value = value;
      entry.expiresMs = expiresMs;
      return;
    }
    this.#deleteExpired(nowMs);
    this.#entries.set(id, { value, expiresMs });
  }

  #deleteExpired(nowMs: number): void {
    let checked = 0;
    for (const [id, entry] of this.#entries) {
      if (checked++ === checkedPerInsert) return;
      this.#entries.delete(id);
      // Moved to the end, so that the next check starts with another one.
      if (entry.expiresMs > nowMs) this.#entries.set(id, entry);
    }
  }
}

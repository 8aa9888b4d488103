/** The slots of concurrent calls that this process holds of one shared limit. */
import { spareShare } from "./bucket-account.ts";
import type { SlotAnswer, SlotRequest } from "./limit-ledger.ts";

/** After this time without a request, the slots of a process are free. */
export const slotLeaseMs = 10_000;

/** How often the slots that are kept for later calls are reviewed. */
const spareReviewMs = 250;

/** Times are of a clock that never jumps. */
export class SlotLease {
  readonly #id: string;
  readonly #leaseMs: number;
  /** As of the last request; undefined: nothing was asked yet. */
  #limit: number | undefined;
  #inUse = 0;
  /** What other processes hold. */
  #others = 0;
  #held = 0;
  #sentMs = -Infinity;
  #needed = 0;
  /** The most in use since the last request, and before it. */
  #peak = 0;
  #peakBefore = 0;
  /** When the request that is on its way was sent. */
  #askedMs: number | undefined;

  constructor(id: string, leaseMs: number) {
    this.#id = id;
    this.#leaseMs = leaseMs;
  }

  has(nowMs: number): boolean {
    return this.#inUse < this.#heldAt(nowMs);
  }

  take(): void {
    this.#inUse += 1;
    if (this.#inUse > this.#peak) this.#peak = this.#inUse;
  }

  /** @returns whether others may need the slot now */
  release(): boolean {
    this.#inUse -= 1;
    return this.#limit !== undefined && this.#held > this.#inUse + this.#allowedSpare();
  }

  need(): void {
    this.#needed += 1;
  }

  /** Whether the ledger answered a request that was sent at most `ageMs` ago. */
  knownSince(nowMs: number, ageMs: number): boolean {
    return nowMs - this.#sentMs < ageMs;
  }

  isDue(nowMs: number): boolean {
    if (this.#needed > 0) return true;
    if (this.#limit === undefined) return false;
    if (this.#held > this.#inUse && nowMs - this.#sentMs >= spareReviewMs) return true;
    return this.#held + this.#inUse > 0 && nowMs - this.#sentMs >= this.#leaseMs / 3;
  }

  isIdle(): boolean {
    return this.#inUse === 0 && (this.#held === 0 || this.#limit === undefined);
  }

  request(limit: number, nowMs: number): SlotRequest {
    this.#limit = limit;
    const wanted = this.#wantedSpare();
    // What is given up must not be used while the request is on its way.
    this.#held = Math.max(this.#inUse, Math.min(this.#heldAt(nowMs), this.#inUse + this.#needed + wanted));
    const free = this.#held - this.#inUse;
    const demand = Math.max(0, this.#needed - free);
    const spare = Math.max(0, wanted - Math.max(0, free - this.#needed));
    this.#needed = 0;
    // Falls slowly, so that a short pause gives up little.
    this.#peakBefore = Math.floor(Math.max(this.#peak, this.#peakBefore * 0.8));
    this.#peak = this.#inUse;
    this.#askedMs = nowMs;
    return { id: this.#id, limit: limit, inUse: this.#held, demand, spare };
  }

  receive({ held, others }: SlotAnswer): void {
    if (this.#askedMs === undefined) return;
    this.#held = held;
    this.#others = others;
    this.#sentMs = this.#askedMs;
    this.#askedMs = undefined;
  }

  /** Holds no slots but those in use until the ledger answers again. */
  reset(): void {
    this.#held = this.#inUse;
    this.#others = 0;
    this.#sentMs = -Infinity;
    this.#needed = 0;
    this.#askedMs = undefined;
  }

  /** The limit was removed: slots mean nothing, and calls go on. */
  unlimit(): void {
    this.#limit = undefined;
    this.#held = this.#inUse;
    this.#needed = 0;
  }

  /** Gives up everything, for the last request. */
  returnAll(): void {
    this.#held = 0;
    this.#inUse = 0;
    this.#peak = 0;
    this.#peakBefore = 0;
    this.#needed = 0;
  }

  #heldAt(nowMs: number): number {
    return nowMs - this.#sentMs < this.#leaseMs ? this.#held : 0;
  }

  #wantedSpare(): number {
    const peak = Math.max(this.#peak, this.#peakBefore);
    return Math.min(Math.ceil(peak * 1.25) - this.#inUse, this.#allowedSpare());
  }

  /** What may be kept for later calls, so that little is kept where little is left. */
  #allowedSpare(): number {
    return Math.max(0, Math.floor(((this.#limit ?? 0) - this.#others - this.#inUse) * spareShare));
  }
}

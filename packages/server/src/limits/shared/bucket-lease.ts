/** What this process may take of one shared bucket without asking, and what it has to report. */
import type { TokenBucket } from "../token-bucket.ts";
import type { BucketAnswer, BucketRequest } from "./limit-ledger.ts";

/** How long a process may use what it took in advance. */
export const leaseMs = 500;
/** Between two requests that only renew what is left. */
const shortestIntervalMs = 10;

interface Grant {
  amount: number;
  sentMs: number;
}

/** Times are of a clock that never jumps. */
export class BucketLease {
  readonly #id: string;
  /** Taken for later calls; the older one is used first. */
  #older: Grant = { amount: 0, sentMs: 0 };
  #newer: Grant = { amount: 0, sentMs: 0 };
  /** Granted for calls that wait now. */
  #granted = 0;
  #returned = 0;
  #charged = 0;
  #needed = 0;
  #leastNeeded = Infinity;
  #used = 0;
  /** What was used in about the time of a lease before the last request. */
  #recentlyUsed = 0;
  #requestedMs = -Infinity;
  #sentMs = -Infinity;
  #asked: { readonly demand: number; readonly sentMs: number } | undefined;

  constructor(id: string) {
    this.#id = id;
  }

  /** Whether the amount can be taken now. */
  has(amount: number, nowMs: number): boolean {
    return this.#available(nowMs) >= amount;
  }

  /** Takes an amount that the lease has. */
  take(amount: number): void {
    this.#used += amount;
    const fromGranted = Math.min(this.#granted, amount);
    this.#granted -= fromGranted;
    const fromOlder = Math.min(this.#older.amount, amount - fromGranted);
    this.#older.amount -= fromOlder;
    this.#newer.amount -= amount - fromGranted - fromOlder;
  }

  /** Charges what was used beyond what was taken; negative: less was used. */
  charge(amount: number): void {
    this.#charged += amount;
  }

  /** Adds a waiting call to the next request. */
  need(amount: number): void {
    this.#needed += amount;
    this.#leastNeeded = Math.min(this.#leastNeeded, amount);
  }

  /** Whether the ledger answered a request that was sent at most `ageMs` ago. */
  knownSince(nowMs: number, ageMs: number): boolean {
    return nowMs - this.#sentMs < ageMs;
  }

  /** Whether what is left for later calls may not last until the next regular exchange, four of which renew a lease. */
  isLow(nowMs: number): boolean {
    return nowMs - this.#sentMs >= shortestIntervalMs && this.#available(nowMs) * 8 < this.#target(nowMs);
  }

  /** Whether something is to be reported, or what is left for later calls should be renewed. */
  isDue(nowMs: number): boolean {
    this.#expire(nowMs);
    if (this.#returned > 0 || this.#charged !== 0 || this.#needed > 0) return true;
    if (this.#used === 0) return false;
    return this.#available(nowMs) * 2 < this.#target(nowMs) || nowMs - this.#sentMs >= leaseMs / 2;
  }

  /** Whether nothing is taken or to be reported. */
  isIdle(nowMs: number): boolean {
    return (
      this.#available(nowMs) === 0 &&
      this.#returned === 0 &&
      this.#charged === 0 &&
      this.#used === 0 &&
      this.#asked === undefined
    );
  }

  request(perMinute: number, nowMs: number): BucketRequest {
    const available = this.#available(nowMs);
    const target = this.#target(nowMs);
    this.#recentlyUsed = this.#recentlyUsedAt(nowMs);
    this.#requestedMs = nowMs;
    const demand = Math.max(0, Math.ceil(this.#needed - available));
    const atLeast = demand === 0 ? 0 : Math.max(1, Math.ceil(this.#leastNeeded - available));
    const [returned, charged] = [this.#returned, this.#charged];
    this.#returned = 0;
    this.#charged = 0;
    this.#needed = 0;
    this.#leastNeeded = Infinity;
    this.#used = 0;
    this.#asked = { demand, sentMs: nowMs };
    const spare = Math.max(0, target - Math.max(0, available - demand));
    return { id: this.#id, perMinute, returned, charged, demand, atLeast, spare };
  }

  /** Applies the answer, also to what is known of the bucket. */
  receive({ granted, taken }: BucketAnswer, view: TokenBucket, times: { nowMs: number; unixMs: number }): void {
    if (this.#asked === undefined) return;
    const { demand, sentMs } = this.#asked;
    this.#asked = undefined;
    this.#sentMs = sentMs;
    const spare = Math.max(0, granted - demand);
    this.#granted = granted - spare;
    if (spare > 0) {
      this.#expire(times.nowMs);
      const [older, newer] = [this.#older, this.#newer];
      this.#older = older.amount === 0 ? newer : { amount: older.amount + newer.amount, sentMs: older.sentMs };
      this.#newer = { amount: spare, sentMs };
    }
    view.taken = Math.max(0, taken - this.#available(times.nowMs) - this.#returned + this.#charged);
    view.updatedMs = times.unixMs;
  }

  /** Gives back what no waiting call took. */
  returnGranted(): void {
    this.#charged -= this.#granted;
    this.#granted = 0;
  }

  /** Forgets what is taken and what was to be reported: the ledger may have lost it, or have it already. */
  reset(): void {
    this.#older.amount = 0;
    this.#newer.amount = 0;
    this.#granted = 0;
    this.#returned = 0;
    this.#charged = 0;
    this.#needed = 0;
    this.#leastNeeded = Infinity;
    this.#used = 0;
    this.#asked = undefined;
    this.#sentMs = -Infinity;
  }

  /** Gives everything back, for the last request. */
  returnAll(nowMs: number): void {
    this.#expire(nowMs);
    this.#returned += this.#granted + this.#older.amount + this.#newer.amount;
    this.#granted = 0;
    this.#older.amount = 0;
    this.#newer.amount = 0;
    this.#used = 0;
    this.#recentlyUsed = 0;
  }

  #available(nowMs: number): number {
    this.#expire(nowMs);
    return this.#granted + this.#older.amount + this.#newer.amount;
  }

  #expire(nowMs: number): void {
    for (const grant of [this.#older, this.#newer]) {
      if (grant.amount === 0 || nowMs - grant.sentMs < leaseMs) continue;
      // The ledger no longer tells a return that comes later from the refill.
      if (nowMs - grant.sentMs < 2 * leaseMs) this.#returned += grant.amount;
      grant.amount = 0;
    }
  }

  #recentlyUsedAt(nowMs: number): number {
    return this.#recentlyUsed * Math.exp((this.#requestedMs - nowMs) / leaseMs) + this.#used;
  }

  /** What the next lease may use at the present rate. */
  #target(nowMs: number): number {
    return this.#used === 0 ? 0 : Math.floor(this.#recentlyUsedAt(nowMs));
  }
}

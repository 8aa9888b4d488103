/** Counts events by name, so that one client, key or organization causes only so many in a minute. */

/** Names in memory; the one with the oldest event is evicted first. */
const maximumNames = 10_000;
const minuteMs = 60_000;

interface Bucket {
  /** Events that have not expired. */
  used: number;
  updatedMs: number;
}

export class RatePerMinute {
  readonly perMinute: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  /** @param perMinute events allowed per name and minute, in a burst or spread out */
  constructor(perMinute: number, now: () => number) {
    this.perMinute = perMinute;
    this.#now = now;
  }

  /** Counts an event. @returns milliseconds until one is allowed again, if this one is not and was not counted; else 0 */
  count(name: string): number {
    const nowMs = this.#now();
    const bucket = this.#buckets.get(name) ?? { used: 0, updatedMs: nowMs };
    const expired = ((nowMs - bucket.updatedMs) * this.perMinute) / minuteMs;
    bucket.used = Math.max(0, bucket.used - expired);
    bucket.updatedMs = nowMs;
    this.#buckets.delete(name);
    if (this.#buckets.size >= maximumNames) this.#buckets.delete(this.#buckets.keys().next().value!);
    this.#buckets.set(name, bucket);
    const excess = bucket.used + 1 - this.perMinute;
    // Expired parts of events do not add up to whole ones.
    if (excess > 1e-6) return Math.ceil((excess * minuteMs) / this.perMinute);
    bucket.used += 1;
    return 0;
  }
}

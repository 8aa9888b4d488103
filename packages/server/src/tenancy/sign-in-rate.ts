/**
 * Limits how often one key creates sessions and sign-in codes: each is a write to the control database, and signing in is
 * not subject to the limits of keys.
 */
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";

const perMinute = inputLimit({
  area: "Administration",
  bounds: "Sessions and sign-in codes that one key creates in a minute",
  value: 100,
  error: "rate_limited",
});
const minuteMs = 60_000;
/** Keys in memory; the one with the oldest attempt is evicted first. */
const maximumKeys = 10_000;

interface Bucket {
  /** Creations that have not expired. */
  used: number;
  updatedMs: number;
}

export class SignInRate {
  readonly #now: () => number;
  readonly #keys = new Map<string, Bucket>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @throws AppError rate_limited when the key created too many recently */
  count(keyId: string): void {
    const nowMs = this.#now();
    const bucket = this.#keys.get(keyId) ?? { used: 0, updatedMs: nowMs };
    const expired = ((nowMs - bucket.updatedMs) * perMinute) / minuteMs;
    bucket.used = Math.max(0, bucket.used - expired);
    bucket.updatedMs = nowMs;
    this.#keys.delete(keyId);
    if (this.#keys.size >= maximumKeys) this.#keys.delete(this.#keys.keys().next().value!);
    this.#keys.set(keyId, bucket);
    if (bucket.used + 1 <= perMinute) {
      bucket.used += 1;
      return;
    }
    throw new AppError(
      "rate_limited",
      `This API key created more than ${perMinute} sessions and sign-in codes in a minute. Keep using the session that you have.`,
      { retryAfterMs: Math.ceil(((bucket.used + 1 - perMinute) * minuteMs) / perMinute) },
    );
  }
}

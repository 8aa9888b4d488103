/**
 * Throttles wrong API keys per client address. Only failed attempts count, and only they are refused: a valid key works
 * from any address, so that one broken client does not lock out a whole office behind the same address.
 */
import { AppError } from "../errors.ts";
import { clientNetwork } from "./client-address.ts";

/** Addresses in memory; the one with the oldest last failure is evicted first. */
const maxAddresses = 10_000;
const minuteMs = 60_000;

interface Failures {
  /** Failures that have not expired. */
  count: number;
  updatedMs: number;
}

export class FailedKeys {
  readonly #perMinute: number;
  readonly #now: () => number;
  readonly #addresses = new Map<string, Failures>();

  /** @param perMinute failures allowed per address and minute, in a burst or spread out */
  constructor(perMinute: number, now: () => number = () => performance.now()) {
    this.#perMinute = perMinute;
    this.#now = now;
  }

  /** Counts a wrong key. @throws AppError rate_limited when the address sent too many recently */
  count(address: string | undefined): void {
    const client = clientNetwork(address ?? "");
    const nowMs = this.#now();
    const failures = this.#addresses.get(client) ?? { count: 0, updatedMs: nowMs };
    const expired = ((nowMs - failures.updatedMs) * this.#perMinute) / minuteMs;
    failures.count = Math.max(0, failures.count - expired) + 1;
    failures.updatedMs = nowMs;
    this.#addresses.delete(client);
    if (this.#addresses.size >= maxAddresses) this.#addresses.delete(this.#addresses.keys().next().value!);
    this.#addresses.set(client, failures);
    const excess = failures.count - this.#perMinute;
    if (excess <= 1e-6) return;
    // A refused attempt does not extend the wait.
    failures.count -= 1;
    throw new AppError(
      "rate_limited",
      `More than ${this.#perMinute} requests per minute from this address had an incorrect API key. Check the key; requests with a correct key are not affected.`,
      { retryAfterMs: Math.ceil((excess * minuteMs) / this.#perMinute) },
    );
  }
}

/**
 * Throttles wrong API keys per client address. Only failed attempts count, and only they are refused: a valid key works
 * from any address, so that one broken client does not lock out a whole office behind the same address.
 */
import { AppError } from "../errors.ts";
import { RatePerMinute } from "../rate-per-minute.ts";
import { clientNetwork } from "./client-address.ts";

/** Other processes of the server, which count the same clients. */
export interface FailedKeysExchange {
  report(client: string): void;
  listen(listener: (client: string) => void): void;
}

export class FailedKeys {
  readonly #rate: RatePerMinute;
  readonly #others: FailedKeysExchange | undefined;

  /** @param perMinute failures allowed per address and minute, in a burst or spread out */
  constructor(perMinute: number, now: () => number = () => performance.now(), others?: FailedKeysExchange) {
    this.#rate = new RatePerMinute(perMinute, now);
    this.#others = others;
    others?.listen((client) => void this.#rate.count(client));
  }

  /** Counts a wrong key. @throws AppError rate_limited when the address sent too many recently */
  count(address: string | undefined): void {
    const client = clientNetwork(address ?? "");
    const waitMs = this.#rate.count(client);
    if (waitMs === 0) return this.#others?.report(client);
    throw new AppError(
      "rate_limited",
      `More than ${this.#rate.perMinute} requests per minute from this address had an incorrect API key. Check the key; requests with a correct key are not affected.`,
      { retryAfterMs: waitMs },
    );
  }
}

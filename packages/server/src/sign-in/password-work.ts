/**
 * Limits the work for passwords: each takes 32 MiB and a thread for a tenth of a second. Others wait in a queue, of which one
 * client address gets only a part.
 */
import { AppError } from "../errors.ts";
import { clientNetwork } from "../http/client-address.ts";
import { inputLimit } from "../input-limits.ts";
import { RatePerMinute } from "../rate-per-minute.ts";

const perMinute = inputLimit({
  area: "Administration",
  bounds: "Passwords from one client address that are checked in a minute",
  value: 60,
  error: "rate_limited",
});
const pendingPerClient = inputLimit({
  area: "Administration",
  bounds: "Passwords from one client address that are checked or wait for it",
  value: 4,
  error: "rate_limited",
});
const pendingInTotal = inputLimit({
  area: "Administration",
  bounds: "Passwords that are checked or wait for it",
  value: 32,
  error: "overloaded",
});
/** Half of Node's threads, which also read files and look up names. */
const concurrent = 2;

export class PasswordWork {
  readonly #rate: RatePerMinute;
  readonly #pending = new Map<string, number>();
  readonly #waiting: (() => void)[] = [];
  #total = 0;
  #running = 0;

  /** @param now milliseconds */
  constructor(now: () => number) {
    this.#rate = new RatePerMinute(perMinute, now);
  }

  /** Runs what hashes one password. @throws AppError rate_limited, overloaded, or what `work` throws; the signal's reason */
  async run<T>(address: string | undefined, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const client = clientNetwork(address ?? "");
    const pending = this.#pending.get(client) ?? 0;
    if (pending >= pendingPerClient)
      throw refused("rate_limited", `${pendingPerClient} passwords from your address are being checked.`, 1000);
    if (this.#total >= pendingInTotal) throw refused("overloaded", "Too many people sign in at the moment.", 1000);
    const waitMs = this.#rate.count(client);
    if (waitMs > 0)
      throw refused("rate_limited", `More than ${perMinute} passwords a minute came from your address.`, waitMs);
    this.#pending.set(client, pending + 1);
    this.#total += 1;
    try {
      await this.#turn();
      try {
        signal.throwIfAborted();
        return await work();
      } finally {
        const next = this.#waiting.shift();
        if (next === undefined) this.#running -= 1;
        else next();
      }
    } finally {
      this.#total -= 1;
      const left = (this.#pending.get(client) ?? 1) - 1;
      if (left === 0) this.#pending.delete(client);
      else this.#pending.set(client, left);
    }
  }

  async #turn(): Promise<void> {
    if (this.#running < concurrent) this.#running += 1;
    // One that finishes passes the turn on.
    else await new Promise<void>((resolve) => void this.#waiting.push(resolve));
  }
}

function refused(code: "rate_limited" | "overloaded", message: string, retryAfterMs: number): AppError {
  return new AppError(code, `${message} Try again later.`, { retryAfterMs });
}

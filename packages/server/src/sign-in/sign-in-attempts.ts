/**
 * Limits sign-ins at identity providers and with passkeys by client address: each costs a request to the provider or a signature, and
 * writes to the control database.
 */
import { AppError } from "../errors.ts";
import { clientNetwork } from "../http/client-address.ts";
import { inputLimit } from "../input-limits.ts";
import { RatePerMinute } from "../rate-per-minute.ts";

const perMinute = inputLimit({
  area: "Administration",
  bounds: "Sign-ins from one client address in a minute at identity providers, and with passkeys",
  value: 60,
  error: "rate_limited",
});
const logoutsPerMinute = inputLimit({
  area: "Administration",
  bounds: "Logout tokens from one client address, such as that of an identity provider, in a minute",
  value: 1200,
  error: "rate_limited",
});
const concurrentPerClient = inputLimit({
  area: "Administration",
  bounds: "Sign-ins that one client address finishes at the same time",
  value: 8,
  error: "rate_limited",
});
const concurrent = inputLimit({
  area: "Administration",
  bounds: "Sign-ins that are finished at the same time",
  value: 64,
  error: "overloaded",
});

interface AttemptLimits {
  readonly what: string;
  /** From one client address. */
  readonly perMinute: number;
  readonly concurrent: number;
}

export const signInLimits: AttemptLimits = { what: "sign-ins", perMinute, concurrent: concurrentPerClient };
/** One address sends those of everybody, and none twice. */
export const logoutLimits: AttemptLimits = { what: "logouts", perMinute: logoutsPerMinute, concurrent };

export class SignInAttempts {
  readonly #rate: RatePerMinute;
  readonly #limits: AttemptLimits;
  readonly #running = new Map<string, number>();
  #total = 0;

  /** @param now milliseconds */
  constructor(now: () => number, limits: AttemptLimits) {
    this.#limits = limits;
    this.#rate = new RatePerMinute(limits.perMinute, now);
  }

  /** Runs the end of a sign-in. @throws AppError rate_limited, overloaded, or what `work` throws */
  async run<T>(address: string | undefined, work: () => Promise<T>): Promise<T> {
    const client = clientNetwork(address ?? "");
    const limits = this.#limits;
    const waitMs = this.#rate.count(client);
    if (waitMs > 0)
      throw refused(
        "rate_limited",
        `More than ${limits.perMinute} ${limits.what} a minute came from your address.`,
        waitMs,
      );
    const running = this.#running.get(client) ?? 0;
    if (running >= limits.concurrent)
      throw refused(
        "rate_limited",
        `${limits.concurrent} ${limits.what} from your address are not finished yet.`,
        1000,
      );
    if (this.#total >= concurrent) throw refused("overloaded", "Too many people sign in at the moment.", 1000);
    this.#running.set(client, running + 1);
    this.#total += 1;
    try {
      return await work();
    } finally {
      this.#total -= 1;
      const left = (this.#running.get(client) ?? 1) - 1;
      if (left === 0) this.#running.delete(client);
      else this.#running.set(client, left);
    }
  }
}

function refused(code: "rate_limited" | "overloaded", message: string, retryAfterMs: number): AppError {
  return new AppError(code, `${message} Try again later.`, { retryAfterMs });
}

/**
 * Limits how often one key creates sessions and sign-in codes: each is a write to the control database, and signing in is
 * not subject to the limits of keys.
 */
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import { RatePerMinute } from "../rate-per-minute.ts";

const perMinute = inputLimit({
  area: "Administration",
  bounds: "Sessions and sign-in codes that one key creates in a minute",
  value: 100,
  error: "rate_limited",
});

export class SignInRate {
  readonly #rate: RatePerMinute;

  constructor(now: () => number) {
    this.#rate = new RatePerMinute(perMinute, now);
  }

  /** @throws AppError rate_limited when the key created too many recently */
  count(keyId: string): void {
    const waitMs = this.#rate.count(keyId);
    if (waitMs === 0) return;
    throw new AppError(
      "rate_limited",
      `This API key created more than ${perMinute} sessions and sign-in codes in a minute. Keep using the session that you have.`,
      { retryAfterMs: waitMs },
    );
  }
}

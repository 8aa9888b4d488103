/**
 * Admits calls or refuses them, by the limits of the key and of its organization: requests and tokens a minute,
 * calls at one time, tokens a month. Everything is decided in memory, at once, with no timer on the way.
 */
import type { Limits, Scope } from "../tenant.ts";
import { Admission, Reservation } from "./admission.ts";
import type { MonthlyUsage } from "./monthly-usage.ts";
import { findRefusal } from "./refusal.ts";
import { createSubjects } from "./subject.ts";

/** Limits for keys and organizations that have none of the kind. */
interface DefaultLimits {
  readonly key: Limits;
  readonly organization: Limits;
}

export interface Limiter {
  /**
   * Admits one call and reserves what it is likely to need. Every admission must be settled.
   * @param need.estimatedTokens prompt and longest answer together, as far as known before the call
   * @throws AppError rate_limited (with the time to wait) or quota_exceeded
   */
  admit(scope: Scope, need: { readonly estimatedTokens: number }): Admission;
  /** In force from the next call on. */
  setDefaults(defaults: DefaultLimits): void;
}

export interface LimiterOptions {
  readonly defaults: DefaultLimits;
  readonly usage: MonthlyUsage;
  /** Milliseconds since 1970; the system's clock when absent. */
  readonly now?: () => number;
  /** Keys and organizations that are remembered at one time; idle ones make room. */
  readonly maxSubjects?: number;
}

export function createLimiter(options: LimiterOptions): Limiter {
  const { usage, now = Date.now, maxSubjects = 100_000 } = options;
  let defaults = options.defaults;
  const keys = createSubjects("key", maxSubjects);
  const organizations = createSubjects("organization", maxSubjects);

  return {
    admit(scope, { estimatedTokens }) {
      const nowMs = now();
      const { key } = scope;
      const keyLimits = effectiveLimits(key.keyLimits, defaults.key);
      const organizationLimits = effectiveLimits(key.organizationLimits, defaults.organization);
      const keySubject = keys.get(key.keyId, key.keyName, nowMs);
      const organization = organizations.get(key.organizationId, key.organizationName, nowMs);
      const request = { estimatedTokens, nowMs, usage };
      const refusal = findRefusal(
        [
          { subject: keySubject, limits: keyLimits },
          { subject: organization, limits: organizationLimits },
        ],
        request,
      );
      if (refusal !== undefined) throw refusal;
      const call = { key, usage, now };
      return new Admission(
        call,
        new Reservation(keySubject, keyLimits, request),
        new Reservation(organization, organizationLimits, request),
      );
    },
    setDefaults(next) {
      defaults = next;
    },
  };
}

function effectiveLimits(own: Limits, fallback: Limits): Limits {
  return {
    requests_per_minute: own.requests_per_minute ?? fallback.requests_per_minute,
    tokens_per_minute: own.tokens_per_minute ?? fallback.tokens_per_minute,
    concurrent_requests: own.concurrent_requests ?? fallback.concurrent_requests,
    tokens_per_month: own.tokens_per_month ?? fallback.tokens_per_month,
  };
}

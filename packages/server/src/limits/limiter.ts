/**
 * Admits or refuses calls by the limits of the key and of its organization: requests, tokens and compute seconds per
 * minute, concurrent calls, tokens per month, and money. Decisions are synchronous, in memory and without timers, unless limits are
 * shared. Inference, telemetry queries and telemetry ingest are counted separately.
 * docs/adr/0041-shared-limits.md
 */
import type { Limits, Scope } from "../tenant.ts";
import { Admission, Reservation } from "./admission.ts";
import type { BudgetedCall } from "./budgets/budget.ts";
import type { BudgetHold } from "./budgets/budget-hold.ts";
import type { Budgets } from "./budgets/budgets.ts";
import type { MonthlyUsage } from "./monthly-usage.ts";
import { checkLimits } from "./check-limits.ts";
import type { SharedLimits } from "./shared/shared-limits.ts";
import { limitUsage, type LimitUsage, type UsageSubject } from "./limit-usage.ts";
import { createSubjectCache, type LimitedSubject, type SubjectCache } from "./subject.ts";
import { type TrafficClass, limitsFor, trafficClasses } from "./traffic-class.ts";

/** Limits of keys and organizations that have none of their own. */
export interface DefaultLimits {
  readonly key: Limits;
  readonly organization: Limits;
}

export interface InferenceNeed {
  readonly estimatedTokens: number;
  /** What budgets have to know; absent: the call costs nothing. */
  readonly call?: (() => BudgetedCall) | undefined;
}

export interface Limiter {
  /**
   * Admits one call and reserves its estimated tokens. Every admission must be settled.
   * A promise only if limits are shared and what this process took in advance does not suffice.
   * @param need.estimatedTokens prompt and longest completion, as estimated before the call
   * @throws AppError rate_limited (with the time to wait) or quota_exceeded; overloaded if shared limits are unreachable
   */
  admit(scope: Scope, need: InferenceNeed): Admission | Promise<Admission>;
  /**
   * The same for budgets alone, of a call whose model is known only after its admission.
   * @throws AppError quota_exceeded, rate_limited or overloaded; the admission goes on
   */
  reserve(scope: Scope, admission: Admission, call: () => BudgetedCall): Admission | Promise<Admission>;
  /**
   * Admits one request that queries or exports telemetry. Its usage is charged while it runs; it must be settled.
   * @throws AppError rate_limited (with the time to wait); overloaded if shared limits are unreachable
   */
  admitTelemetry(scope: Scope, trafficClass: Exclude<TrafficClass, "inference">): Admission | Promise<Admission>;
  /** The limits of a key or an organization, and what is counted: by all processes if limits are shared. */
  usageOf(subject: UsageSubject): Promise<LimitUsage[]>;
  /** Takes effect with the next call. */
  setDefaults(defaults: DefaultLimits): void;
}

export interface LimiterOptions {
  readonly defaults: DefaultLimits;
  readonly usage: MonthlyUsage;
  /** UNIX milliseconds; absent: the system's clock. */
  readonly now?: () => number;
  /** Keys and organizations in memory; idle ones are evicted. */
  readonly maxSubjects?: number;
  /** Absent: the process counts alone. */
  readonly shared?: SharedLimits | undefined;
  /** Absent: there are none. */
  readonly budgets?: Budgets | undefined;
}

export function createLimiter(options: LimiterOptions): Limiter {
  const { budgets, usage, now = Date.now, maxSubjects = 100_000, shared } = options;
  let defaults = options.defaults;
  const caches = Object.fromEntries(
    trafficClasses.map((trafficClass) => [
      trafficClass,
      { keys: createSubjectCache("key", maxSubjects), organizations: createSubjectCache("organization", maxSubjects) },
    ]),
  ) as Record<TrafficClass, { readonly keys: SubjectCache; readonly organizations: SubjectCache }>;

  const admit = (
    { key }: Scope,
    trafficClass: TrafficClass,
    estimatedTokens: number,
  ): Admission | Promise<Admission> => {
    const nowMs = now();
    const { keys, organizations } = caches[trafficClass];
    const limitedKey: LimitedSubject = {
      subject: keys.get(key.limitsKeyId, key.keyName, nowMs),
      limits: limitsFor(trafficClass, key.keyLimits, defaults.key),
    };
    const limitedOrganization: LimitedSubject = {
      subject: organizations.get(key.organizationId, key.organizationName, nowMs),
      limits: limitsFor(trafficClass, key.organizationLimits, defaults.organization),
    };
    const request = { trafficClass, estimatedTokens, nowMs, usage };
    const limited = [limitedKey, limitedOrganization];
    const open = (leased: boolean, openedMs: number): Admission => {
      const opened = { estimatedTokens, nowMs: openedMs };
      return new Admission(
        { key, usage, now, shared },
        new Reservation(limitedKey, opened, leased),
        new Reservation(limitedOrganization, opened, leased),
      );
    };
    if (shared !== undefined) return shared.admit({ limited, request, open });
    const refusal = checkLimits(limited, request);
    if (refusal !== undefined) throw refusal;
    return open(false, nowMs);
  };

  const reserve = (scope: Scope, admission: Admission, call: () => BudgetedCall): Admission | Promise<Admission> => {
    if (budgets?.appliesTo(scope.organizationId) !== true) return admission;
    const hold = budgets.reserve(scope, call());
    const withHold = (each: BudgetHold | undefined): Admission => {
      admission.hold(each);
      return admission;
    };
    return hold instanceof Promise ? hold.then(withHold) : withHold(hold);
  };

  /** A call that budgets refuse was never admitted. */
  const reserveFirst: typeof reserve = (scope, admission, call) => {
    const cancel = (error: unknown): never => {
      admission.cancel();
      throw error;
    };
    try {
      const reserved = reserve(scope, admission, call);
      return reserved instanceof Promise ? reserved.catch(cancel) : reserved;
    } catch (error) {
      return cancel(error);
    }
  };

  const refresh = async (sharing: SharedLimits, { kind, id, limits }: UsageSubject): Promise<void> => {
    const nowMs = now();
    await Promise.all(
      trafficClasses.map(async (trafficClass) => {
        const cache = caches[trafficClass][kind === "key" ? "keys" : "organizations"];
        const subject = cache.get(id, cache.peek(id)?.name ?? id, nowMs);
        await sharing.refresh({ subject, limits: limitsFor(trafficClass, limits, defaults[kind]) }, trafficClass);
      }),
    );
  };

  return {
    admit(scope, { call, estimatedTokens }) {
      const admitting = admit(scope, "inference", estimatedTokens);
      if (call === undefined) return admitting;
      return admitting instanceof Promise
        ? admitting.then((admission) => reserveFirst(scope, admission, call))
        : reserveFirst(scope, admitting, call);
    },
    reserve,
    admitTelemetry: (scope, trafficClass) => admit(scope, trafficClass, 0),
    async usageOf({ kind, id, limits }) {
      if (shared !== undefined) await refresh(shared, { kind, id, limits });
      const nowMs = now();
      const tokens = kind === "key" ? usage.keyTokens(id, nowMs) : usage.organizationTokens(id, nowMs);
      return limitUsage(limits, defaults[kind], {
        nowMs,
        stateOf: (trafficClass) => caches[trafficClass][kind === "key" ? "keys" : "organizations"].peek(id) ?? null,
        month: { tokens, endUnixMs: usage.month(nowMs).endUnixMs },
      });
    },
    setDefaults(next) {
      defaults = next;
    },
  };
}

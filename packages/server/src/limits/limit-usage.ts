/** Reports the limits of a key or an organization with their current usage. */
import type { Limits } from "../tenant.ts";
import type { Subject } from "./subject.ts";
import { consumedTokens, refillMs, remainingTokens } from "./token-bucket.ts";
import { limitsFor, trafficClasses, type TrafficClass } from "./traffic-class.ts";

/** What is counted separately, under the names of docs/administer/limits.md. */
const workNames = { inference: "inference", query: "queries", ingest: "exports" } as const satisfies Record<
  TrafficClass,
  string
>;

/** One limit and its usage. Null: not set, or not known. */
export interface LimitUsage {
  readonly limit: keyof Limits;
  readonly applies_to: (typeof workNames)[TrafficClass];
  readonly value: number | null;
  readonly used: number | null;
  readonly remaining: number | null;
  /** When nothing of the limit will be used if no further request arrives, UNIX seconds. */
  readonly resets_at: number | null;
}

/** A key or an organization, and its own limits. */
export interface UsageSubject {
  readonly kind: "key" | "organization";
  readonly id: string;
  readonly limits: Limits;
}

export interface CurrentUsage {
  readonly nowMs: number;
  /** The state of the subject: null if it is idle, undefined where no server counts. */
  readonly stateOf: (trafficClass: TrafficClass) => Subject | null | undefined;
  readonly month: { readonly tokens: number; readonly endUnixMs: number };
}

/** Every limit that applies, set or not. `fallback` has the limits of subjects without limits of their own. */
export function limitUsage(own: Limits, fallback: Limits, { nowMs, stateOf, month }: CurrentUsage): LimitUsage[] {
  return trafficClasses.flatMap((trafficClass) => {
    const limits = limitsFor(trafficClass, own, fallback);
    const state = stateOf(trafficClass);
    const row = (limit: keyof Limits, used: number | null, left: Partial<LimitUsage> = {}): LimitUsage => {
      const value = limits[limit] ?? null;
      const remaining = value === null || used === null ? null : Math.max(0, value - used);
      return { limit, applies_to: workNames[trafficClass], value, used, remaining, resets_at: null, ...left };
    };
    const rate = (limit: keyof Limits, bucket: "requests" | "tokens" | "compute"): LimitUsage => {
      const value = limits[limit];
      // Without a limit nothing is counted: a bucket refills at the rate of its limit.
      if (value === undefined || state === undefined) return row(limit, null);
      if (state === null) return row(limit, 0);
      const used = consumedTokens(state[bucket], value, nowMs);
      const resetMs = refillMs(state[bucket], value, nowMs);
      return row(limit, bucket === "compute" ? Math.round(used * 10) / 10 : Math.ceil(used - 1e-6), {
        remaining: remainingTokens(state[bucket], value, nowMs),
        resets_at: resetMs === 0 ? null : unixSeconds(nowMs + resetMs),
      });
    };
    return [
      rate("requests_per_minute", "requests"),
      row(
        "concurrent_requests",
        state === undefined ? null : state === null ? 0 : state.inFlight + state.inFlightElsewhere,
      ),
      ...(trafficClass === "inference"
        ? [
            rate("tokens_per_minute", "tokens"),
            row("tokens_per_month", month.tokens, { resets_at: unixSeconds(month.endUnixMs) }),
          ]
        : [rate("compute_seconds_per_minute", "compute")]),
    ];
  });
}

function unixSeconds(unixMs: number): number {
  return Math.ceil(unixMs / 1000);
}

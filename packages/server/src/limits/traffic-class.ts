/** Traffic classes, which limits count separately, so that dashboards cannot exhaust the limits of inference. */
import type { Permission } from "../permissions.ts";
import type { Limits } from "../tenant.ts";

export const trafficClasses = ["inference", "query", "ingest"] as const;
/** `inference` calls models, `query` reads telemetry, `ingest` exports it. */
export type TrafficClass = (typeof trafficClasses)[number];

/** The class of a telemetry operation. Undefined for others: inference is admitted by its own routes. */
export function telemetryClassOf(permission: Permission | "none" | "any"): "query" | "ingest" | undefined {
  if (permission === "telemetry_read" || permission === "spend_read") return "query";
  return permission === "telemetry_write" ? "ingest" : undefined;
}

/** What error messages call requests of each class. */
export const requestNouns: Readonly<Record<TrafficClass, string>> = {
  inference: "requests",
  query: "telemetry queries",
  ingest: "telemetry exports",
};

/** The limits that apply to the class: those of the key or organization, else the configuration's. */
export function limitsFor(trafficClass: TrafficClass, own: Limits, fallback: Limits): Limits {
  const requests = {
    requests_per_minute: own.requests_per_minute ?? fallback.requests_per_minute,
    concurrent_requests: own.concurrent_requests ?? fallback.concurrent_requests,
  };
  if (trafficClass !== "inference") {
    const limit = own.compute_seconds_per_minute ?? fallback.compute_seconds_per_minute;
    return { ...requests, compute_seconds_per_minute: limit };
  }
  return {
    ...requests,
    tokens_per_minute: own.tokens_per_minute ?? fallback.tokens_per_minute,
    tokens_per_month: own.tokens_per_month ?? fallback.tokens_per_month,
  };
}

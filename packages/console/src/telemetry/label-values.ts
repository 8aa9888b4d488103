/** Suggestions for filters: the services, models and operations that telemetry names, from Prometheus' API. */
import { requestJson } from "../api/request.ts";
import type { Moments } from "../state/time-range.ts";

export type SuggestedLabel = "service_name" | "model_key" | "operation";

/** More would not help anyone to choose. */
const mostSuggestions = 500;

export async function labelValues(
  label: SuggestedLabel,
  { startMs, endMs }: Moments,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const query = { start: startMs / 1000, end: endMs / 1000, limit: mostSuggestions };
  const path = `prometheus/api/v1/label/${label}/values`;
  const { data } = await requestJson<{ readonly data: readonly string[] }>(path, { query, signal });
  return data;
}

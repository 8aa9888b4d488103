/** The operations that read metrics, and who serves them. */
import { queryMetrics } from "../../api/observability-metrics.ts";
import { route, type Route } from "../../http/route.ts";
import { prometheusRoutes } from "./prometheus-routes.ts";
import { queryPreset, type MetricsParts } from "./query-presets.ts";

export function metricsRoutes(parts: MetricsParts & { readonly version: string }): Route[] {
  return [
    ...prometheusRoutes(parts),
    route(queryMetrics, async ({ body, scope, signal }) => ({
      kind: "json",
      value: await queryPreset(parts, body, { scope, signal, nowMs: Date.now() }),
    })),
  ];
}

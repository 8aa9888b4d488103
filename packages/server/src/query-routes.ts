/** Composes the routes that query and export telemetry, for `app.ts`. */
import type { Alerts } from "./alerts/alerts.ts";
import type { Route } from "./http/route.ts";
import type { RatesOfModels } from "./pricing/current-rates.ts";
import { exportRoutes } from "./query/export/routes.ts";
import { logRoutes } from "./query/logs/routes.ts";
import { lokiRoutes } from "./query/loki-api/loki-routes.ts";
import type { MetricPresets } from "./query/metrics/presets/metric-presets.ts";
import { metricsRoutes } from "./query/metrics/routes.ts";
import { projectRoutes } from "./query/projects/routes.ts";
import { prometheusRoutes } from "./query/prometheus-api/prometheus-routes.ts";
import { spendRoutes } from "./query/spend/routes.ts";
import { tempoRoutes } from "./query/tempo-api/tempo-routes.ts";
import { traceRoutes } from "./query/traces/routes.ts";
import type { TracePresets } from "./query/traces/trace-presets.ts";
import type { Store } from "./store/store.ts";
import type { ControlDatabase } from "./tenancy/control-database.ts";

interface QueryParts {
  readonly control: ControlDatabase;
  readonly store: Store;
  readonly version: string;
  readonly tracePresets: TracePresets;
  readonly metricPresets: MetricPresets;
  readonly ratesOf: RatesOfModels;
  readonly currency: string;
  readonly alerts: Pick<Alerts, "ruleGroups">;
}

export function queryRoutes({
  alerts,
  control,
  currency,
  metricPresets,
  ratesOf,
  store,
  tracePresets,
  version,
}: QueryParts): Route[] {
  return [
    ...[logRoutes, projectRoutes, exportRoutes].flatMap((routes) => routes(store)),
    ...traceRoutes({ store, tracePresets, ratesOf }),
    ...spendRoutes({ store, control, currency }),
    ...metricsRoutes({ store, presets: metricPresets }),
    ...prometheusRoutes({ store, version, ruleGroups: (scope) => alerts.ruleGroups(scope) }),
    ...tempoRoutes({ store, version }),
    ...lokiRoutes({ store, version }),
  ];
}

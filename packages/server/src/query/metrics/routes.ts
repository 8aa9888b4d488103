/** Routes of metric presets: their list and their evaluation. */
import { listMetrics, queryMetrics, type MetricList } from "../../api/observability-metrics.ts";
import { incrementalJson } from "../../http/incremental-json.ts";
import { route, type Route } from "../../http/route.ts";
import { presetAliases, type MetricPresets } from "./presets/metric-presets.ts";
import { queryPreset, type MetricsParts } from "./presets/query-presets.ts";

export function metricsRoutes(parts: MetricsParts): Route[] {
  return [
    route(listMetrics, () => ({ kind: "json", value: metricList(parts.presets) })),
    route(queryMetrics, async ({ body, memory, scope, signal }) =>
      incrementalJson(await queryPreset(parts, body, { scope, signal, memory, nowMs: Date.now() })),
    ),
  ];
}

function metricList(presets: MetricPresets): MetricList {
  const data = presets.all.map(({ description, filters, group, labels, name, unit }) => ({
    name,
    aliases: Object.keys(presetAliases).filter((alias) => presetAliases[alias] === name),
    group,
    description,
    unit,
    labels: [...labels],
    filters: [...filters],
  }));
  return { data };
}

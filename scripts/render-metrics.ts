/**
 * Renders docs/reference/metrics.md: all metrics that can be queried by name, and all series that are derived from
 * spans.
 */
import { completeRates } from "../packages/server/src/pricing/model-price.ts";
import { createMetricPresets, presetAliases } from "../packages/server/src/query/metrics/presets/metric-presets.ts";
import type { MetricPreset } from "../packages/server/src/query/metrics/presets/preset.ts";
import { checkCall } from "../packages/server/src/query/metrics/presets/preset-call.ts";
import { printExpression } from "@sounding/promql/syntax/print";
import { spanMetrics } from "../packages/server/src/query/metrics/span-series/span-metrics.ts";

const introduction = `# Metrics

<!-- Written by scripts/generate.ts from packages/server/src/query/metrics; do not edit. -->

\`POST /observability/metrics\` returns the metrics on this page by name. \`sounding metrics --list\` lists the metrics of a server,
including those of its configuration. [Query metrics](../observability/metrics.md) explains how to use them.

Every metric has the parameters \`organization_id\`, \`time_window\` (default \`1h\`) and \`step\`. With \`step\`, the ranges in the queries
below are as long as the step. A filter that is not set has no matcher in the query, unless it has a default.
`;

/** A metric as a heading, a table of facts and its query. */
function renderPreset(preset: MetricPreset): string {
  const call = checkCall(preset, { metric: preset.name }, { nowMs: 1_700_000_000_000, project: undefined });
  const aliases = Object.keys(presetAliases).filter((alias) => presetAliases[alias] === preset.name);
  const withDefaults = preset.filters.map((filter) => {
    const value = filter === "percentile" ? "0.95" : preset.defaults?.[filter];
    return value === undefined ? `\`${filter}\`` : `\`${filter}\` (default \`${value}\`)`;
  });
  const lines = [
    `### ${preset.name}`,
    preset.description,
    `- Unit: ${preset.unit}`,
    `- Labels: ${preset.labels.length === 0 ? "none" : preset.labels.map((label) => `\`${label}\``).join(", ")}`,
    `- Filters: ${withDefaults.join(", ")}`,
    ...(aliases.length === 0 ? [] : [`- Also called ${aliases.map((alias) => `\`${alias}\``).join(", ")}`]),
    `\n\`\`\`promql\n${printExpression(preset.build(call))}\n\`\`\``,
  ];
  return `${lines[0]}\n\n${lines[1]}\n\n${lines.slice(2).join("\n")}\n`;
}

export function renderMetricsDocument(): string {
  const { all } = createMetricPresets({
    ratesOf: () => ({ "gpt-example": completeRates({ input: 2.5, output: 10, cacheRead: 1.25 }) }),
    configured: {},
  });
  const groups = Map.groupBy(all, ({ group }) => group);
  const presets = [...groups].map(([group, members]) => `## ${group}\n\n${members.map(renderPreset).join("\n")}`);
  const entries = spanMetrics.map(({ help, labels, labelsWhenNamed, name, source, type }) => {
    const own = [...labels, ...labelsWhenNamed.map((label) => `${label}¹`)].map((label) => `\`${label}\``);
    const list = own.join(", ").replaceAll("¹`", "`¹");
    return `### \`${name}\`\n\n${help}\n\n- Type: ${type}\n- Counted from: ${source}\n- Labels: ${list}\n`;
  });
  const series = `## Series counted from spans

These series are not stored: the server counts them from spans when a query needs them. A span counts at the time when it ends.

Labels with ¹ exist only in queries that name the label, because they have too many values.

${entries.join("\n")}`;
  return [introduction, ...presets, series].join("\n");
}

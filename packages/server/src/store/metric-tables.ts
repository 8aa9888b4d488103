/** Defines the tables of metrics: series, points and exemplars. */
import { choice, float64, int32, list, nanoseconds, seconds, uint64, uint8 } from "./column-types.ts";
import {
  attributes,
  attributeTypes,
  column,
  content,
  defineTable,
  hash,
  id,
  name,
  number,
  retention,
  tenant,
  time,
} from "./table-definition.ts";

export const metricTypes = { gauge: 1, sum: 2, histogram: 3, exponential_histogram: 4, summary: 5 } as const;
export const temporalities = { unspecified: 0, delta: 1, cumulative: 2 } as const;

/** The unit of metrics that came by remote write: their names and labels are Prometheus' own. An annotation, which has no meaning in UCUM. */
export const prometheusUnit = "{prometheus}";

/**
 * The metric and unit of series that have a point whenever a resource has points: PromQL's `target_info`. They are written, as
 * Prometheus does, because the times of a resource cannot be found among its points without reading all of them.
 */
export const targetInfo = { metric: "target_info", unit: "{resource}" } as const;

/** What all points of a series have in common. The ID is a hash of all other columns except `description`, `seen` and `days`. */
export const series = defineTable({
  name: "series",
  columns: {
    ...tenant,
    /** OpenTelemetry's name of the metric. */
    metric: name,
    series_id: hash,
    type: column(choice(metricTypes)),
    unit: name,
    description: content,
    temporality: column(choice(temporalities)),
    monotonic: column(uint8),
    service: name,
    resource_id: hash,
    scope_id: hash,
    attributes,
    attribute_types: attributeTypes,
    seen: column(seconds, "ZSTD(1)"),
    ...retention,
  },
  sortKey: ["organization", "metric", "series_id"],
  timeColumn: "seen",
  partitioned: false,
  shardColumns: ["organization", "series_id"],
  identity: "series_id",
});

const point = {
  organization: name,
  metric: name,
  series_id: hash,
  /** 0 if unknown. */
  start_time: column(nanoseconds, "DoubleDelta, ZSTD(1)"),
  time: column(nanoseconds, "DoubleDelta, ZSTD(1)"),
  /** OTLP DataPointFlags: bit 0 marks a point without a value (a stale marker). */
  flags: column(uint8, "ZSTD(1)"),
} as const;

/** Points of gauges and sums. */
export const points = defineTable({
  name: "points",
  columns: { ...point, value: column(float64, "Gorilla, ZSTD(1)"), ...retention },
  sortKey: ["organization", "metric", "series_id", "time"],
  timeColumn: "time",
  partitioned: true,
  shardColumns: ["organization", "series_id"],
});

/** Points of histograms, exponential histograms and summaries. Columns of other types are empty, absent numbers NaN. */
export const distributionPoints = defineTable({
  name: "distribution_points",
  columns: {
    ...point,
    count: hash,
    sum: number,
    min: number,
    max: number,
    /** Histogram: upper bounds, one fewer than counts. */
    bounds: column(list(float64), "ZSTD(1)"),
    counts: column(list(uint64), "ZSTD(1)"),
    scale: column(int32, "ZSTD(1)"),
    zero_count: hash,
    zero_threshold: number,
    positive_offset: column(int32, "ZSTD(1)"),
    positive_counts: column(list(uint64), "ZSTD(1)"),
    negative_offset: column(int32, "ZSTD(1)"),
    negative_counts: column(list(uint64), "ZSTD(1)"),
    quantiles: column(list(float64), "ZSTD(1)"),
    quantile_values: column(list(float64), "ZSTD(1)"),
    ...retention,
  },
  sortKey: ["organization", "metric", "series_id", "time"],
  timeColumn: "time",
  partitioned: true,
  shardColumns: ["organization", "series_id"],
});

export const exemplars = defineTable({
  name: "exemplars",
  columns: {
    organization: name,
    metric: name,
    series_id: hash,
    time,
    value: number,
    trace_id: id,
    span_id: id,
    attributes,
    attribute_types: attributeTypes,
    ...retention,
  },
  sortKey: ["organization", "metric", "series_id", "time", "trace_id", "span_id"],
  timeColumn: "time",
  partitioned: true,
  shardColumns: ["organization", "series_id"],
});

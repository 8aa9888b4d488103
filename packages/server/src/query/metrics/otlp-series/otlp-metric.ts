/** Defines the metrics that applications send over OTLP, and the names under which PromQL selects them. */
import type { metricTypes } from "../../../store/metric-tables.ts";
import type { SpanMetric } from "../span-series/span-metric.ts";

/** The part of a metric that a series has. */
export type OtlpPart = "value" | "bucket" | "sum" | "count" | "native" | "quantile";

export interface OtlpMetric {
  /** OpenTelemetry's name. */
  readonly metric: string;
  readonly unit: string;
  readonly description: string;
  readonly type: keyof typeof metricTypes;
  readonly monotonic: boolean;
  /** PromQL's name, without the suffixes of parts. */
  readonly name: string;
}

/** A name that queries can select. */
export interface OtlpSeriesName {
  readonly name: string;
  readonly metric: OtlpMetric;
  readonly part: OtlpPart;
  /** Set if the name is that of a metric over spans. */
  readonly mapping?: SemconvMapping;
}

/** The label that a name's series have in addition; undefined for series without one. */
export function partLabelOf({ part }: OtlpSeriesName): "le" | "quantile" | undefined {
  if (part === "bucket") return "le";
  return part === "quantile" ? "quantile" : undefined;
}

export type SeriesLabels = ReadonlyMap<string, string>;

/** How a pushed series appears under the name of a metric over spans. */
export interface SemconvMapping {
  readonly metric: SpanMetric;
  /** Whether a series with these labels belongs to the metric. The labels include ours. */
  covers(labels: SeriesLabels): boolean;
}

/** Writes data points as OTLP/JSON. https://opentelemetry.io/docs/specs/otel/metrics/data-model/ */
import { sql } from "../../store/statement.ts";
import { metricTypes } from "../../store/metric-tables.ts";
import { toKeyValues } from "../attribute-values.ts";
import { ifAny, ifNotZero, ifSet } from "../otlp-json.ts";

/** NaN and infinities are texts, as in OTLP/JSON. */
type NumberJson = number | string;

/** What statements read of gauges and sums. */
export const numberColumns = sql`value`;

/** What statements read of histograms and summaries. */
export const distributionColumns = sql`count, sum, min, max, bounds, counts, scale, zero_count, zero_threshold,
  positive_offset, positive_counts, negative_offset, negative_counts, quantiles, quantile_values`;

export interface PointRow {
  readonly table: "points" | "distribution_points";
  readonly metric: string;
  readonly series_id: string;
  readonly start_nano: string;
  readonly unix_nano: string;
  readonly flags: number;
  /** Of gauges and sums. */
  readonly value?: NumberJson;
  /** The others are there together. */
  readonly count?: string;
  readonly sum?: NumberJson;
  readonly min?: NumberJson;
  readonly max?: NumberJson;
  readonly bounds?: readonly NumberJson[];
  readonly counts?: readonly string[];
  readonly scale?: number;
  readonly zero_count?: string;
  readonly zero_threshold?: NumberJson;
  readonly positive_offset?: number;
  readonly positive_counts?: readonly string[];
  readonly negative_offset?: number;
  readonly negative_counts?: readonly string[];
  readonly quantiles?: readonly NumberJson[];
  readonly quantile_values?: readonly NumberJson[];
  readonly exemplars: ExemplarRow[];
}

export interface SeriesRow {
  readonly metric: string;
  readonly series_id: string;
  readonly type_number: number;
  readonly unit: string;
  readonly description: string;
  readonly temporality_number: number;
  readonly monotonic: number;
  readonly resource_id: string;
  readonly scope_id: string;
  readonly attribute_names: readonly string[];
  readonly attribute_values: readonly string[];
  readonly attribute_types: string;
}

export interface ExemplarRow {
  readonly metric: string;
  readonly series_id: string;
  readonly unix_nano: string;
  readonly value: NumberJson;
  readonly trace_id: string;
  readonly span_id: string;
  readonly attribute_names: readonly string[];
  readonly attribute_values: readonly string[];
  readonly attribute_types: string;
}

export interface DescribedPoint extends SeriesRow {
  readonly point: PointRow;
}

/** DataPointFlags: the point has no value. */
const noRecordedValue = 1;

/**
 * Gives each exemplar to the first point of its series that is not earlier, or to the last point.
 * @param points in order of series and time, without duplicates
 * @param exemplars in the same order
 */
export function attachExemplars(points: readonly PointRow[], exemplars: readonly ExemplarRow[]): void {
  const keyOf = ({ metric, series_id }: PointRow | ExemplarRow): string => `${metric} ${series_id}`;
  const ofSeries = Map.groupBy(points, keyOf);
  const next = new Map<string, number>();
  for (const exemplar of exemplars) {
    const key = keyOf(exemplar);
    const own = ofSeries.get(key);
    if (own === undefined) continue;
    const time = BigInt(exemplar.unix_nano);
    let index = next.get(key) ?? 0;
    while (index < own.length - 1 && BigInt(own[index]!.unix_nano) < time) index += 1;
    next.set(key, index);
    own[index]!.exemplars.push(exemplar);
  }
}

/** The points of one scope by metric, as OTLP's Metric. */
export function toMetrics(points: readonly DescribedPoint[]): object[] {
  const groups = Map.groupBy(points, (point) =>
    JSON.stringify([
      point.metric,
      point.unit,
      point.description,
      point.type_number,
      point.temporality_number,
      point.monotonic,
    ]),
  );
  return [...groups.values()].map((group) => {
    const { description, metric, unit } = group[0]!;
    return { name: metric, ...ifSet("description", description), ...ifSet("unit", unit), ...dataOf(group) };
  });
}

function dataOf(group: readonly DescribedPoint[]): object {
  const { monotonic, temporality_number: temporality, type_number: type } = group[0]!;
  const aggregationTemporality = temporality;
  switch (type) {
    case metricTypes.gauge:
      return { gauge: { dataPoints: group.map(toNumberPoint) } };
    case metricTypes.sum:
      return {
        sum: { dataPoints: group.map(toNumberPoint), aggregationTemporality, isMonotonic: monotonic === 1 },
      };
    case metricTypes.histogram:
      return { histogram: { dataPoints: group.map(toHistogramPoint), aggregationTemporality } };
    case metricTypes.exponential_histogram:
      return { exponentialHistogram: { dataPoints: group.map(toExponentialPoint), aggregationTemporality } };
    default:
      return { summary: { dataPoints: group.map(toSummaryPoint) } };
  }
}

function headOf({ attribute_names: names, attribute_types: kinds, attribute_values: values, point }: DescribedPoint) {
  return {
    ...ifAny("attributes", toKeyValues({ names, values, kinds })),
    ...ifNotZero("startTimeUnixNano", point.start_nano),
    timeUnixNano: point.unix_nano,
    ...ifSet("flags", point.flags),
    ...ifAny("exemplars", point.exemplars.map(toExemplar)),
  };
}

function toExemplar(row: ExemplarRow): object {
  const attributes = { names: row.attribute_names, values: row.attribute_values, kinds: row.attribute_types };
  return {
    ...ifAny("filteredAttributes", toKeyValues(attributes)),
    timeUnixNano: row.unix_nano,
    asDouble: toDouble(row.value),
    ...ifSet("spanId", row.span_id),
    ...ifSet("traceId", row.trace_id),
  };
}

function toNumberPoint(described: DescribedPoint): object {
  const { flags, value } = described.point;
  return { ...headOf(described), ...((flags & noRecordedValue) === 0 ? { asDouble: toDouble(value ?? 0) } : {}) };
}

function toHistogramPoint(described: DescribedPoint): object {
  const { bounds = [], count = "0", counts = [], max, min, sum } = described.point;
  return {
    ...headOf(described),
    count,
    ...ifNumber("sum", sum),
    ...ifAny("bucketCounts", counts),
    ...ifAny("explicitBounds", bounds.map(toDouble)),
    ...ifNumber("min", min),
    ...ifNumber("max", max),
  };
}

function toExponentialPoint(described: DescribedPoint): object {
  const { point } = described;
  return {
    ...headOf(described),
    count: point.count ?? "0",
    ...ifNumber("sum", point.sum),
    scale: point.scale ?? 0,
    ...ifNotZero("zeroCount", point.zero_count),
    positive: { ...ifSet("offset", point.positive_offset), ...ifAny("bucketCounts", point.positive_counts ?? []) },
    negative: { ...ifSet("offset", point.negative_offset), ...ifAny("bucketCounts", point.negative_counts ?? []) },
    ...ifNumber("min", point.min),
    ...ifNumber("max", point.max),
    ...(Number(point.zero_threshold) > 0 ? { zeroThreshold: point.zero_threshold } : {}),
  };
}

function toSummaryPoint(described: DescribedPoint): object {
  const { count = "0", quantile_values: values = [], quantiles = [], sum } = described.point;
  const quantileValues = quantiles.map((quantile, index) => ({
    quantile: toDouble(quantile),
    value: toDouble(values[index] ?? 0),
  }));
  return { ...headOf(described), count, sum: toDouble(sum ?? 0), ...ifAny("quantileValues", quantileValues) };
}

/** The store writes NaN for an absent number. */
function ifNumber(name: string, value: NumberJson | undefined): Record<string, NumberJson> {
  return value === undefined || Number.isNaN(toNumber(value)) ? {} : { [name]: toDouble(value) };
}

/** OTLP/JSON writes NaN and infinities as `NaN`, `Infinity` and `-Infinity`; the store as `nan`, `inf` and `-inf`. */
function toDouble(value: NumberJson): NumberJson {
  const number = toNumber(value);
  return Number.isFinite(number) && !Object.is(number, -0) ? number : Object.is(number, -0) ? "-0" : String(number);
}

function toNumber(value: NumberJson): number {
  if (typeof value === "number") return value;
  return Number(value.replace("inf", "Infinity").replace("nan", "NaN"));
}

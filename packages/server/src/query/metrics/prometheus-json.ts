/** Writes query results in the JSON of Prometheus' HTTP API. https://prometheus.io/docs/prometheus/latest/querying/api/#expression-query-result-formats */
import { LazyList } from "../../http/incremental-json.ts";
import type { MatrixSeries, QueryValue, VectorSample } from "@sounding/promql/query-value";
import { allBuckets, type Bucket } from "@sounding/promql/histogram/bucket-bounds";
import { usesCustomBuckets, type FloatHistogram } from "@sounding/promql/histogram/float-histogram";
import { entriesOf, type Labels } from "@sounding/promql/series/labels";
import { formatSampleValue } from "@sounding/promql/syntax/number-literal";

/** Seconds, and the value as a string. */
export type SampleJson = [seconds: number, value: string];

export interface HistogramJson {
  count: string;
  sum: string;
  /** Which bounds are inclusive (0 the upper, 1 the lower, 3 both), the bounds and the count. */
  buckets: [boundaries: number, lower: string, upper: string, count: string][];
}

export interface VectorItemJson {
  metric: Record<string, string>;
  value?: SampleJson;
  histogram?: [seconds: number, histogram: HistogramJson];
}

/** Long lists are generated while they are written, so that a response is never in memory as a whole. */
type List<Item> = Item[] | LazyList<Item>;

export interface MatrixItemJson {
  metric: Record<string, string>;
  values?: List<SampleJson>;
  histograms?: List<[seconds: number, histogram: HistogramJson]>;
}

export type ResultJson =
  | { resultType: "vector"; result: List<VectorItemJson> }
  | { resultType: "matrix"; result: List<MatrixItemJson> }
  | { resultType: "scalar" | "string"; result: SampleJson };

/** @param timeMs when an instant query was evaluated */
// oxlint-disable-next-line typescript/consistent-return -- the switch is exhaustive, which tsc checks
export function resultJson(value: QueryValue, timeMs: number): ResultJson {
  switch (value.type) {
    case "vector":
      return { resultType: "vector", result: listOf(value.samples, (sample) => vectorItem(sample, timeMs)) };
    case "matrix":
      return { resultType: "matrix", result: listOf(value.series, matrixItem) };
    case "scalar":
      return { resultType: "scalar", result: [timeMs / 1000, formatSampleValue(value.value)] };
    case "string":
      return { resultType: "string", result: [timeMs / 1000, value.value] };
  }
}

/** Samples and series are short; a histogram can have some hundred buckets. */
const longList = 64;
const longListOfHistograms = 4;

export function listOf<Item, Json>(
  items: ArrayLike<Item>,
  convert: (item: Item, index: number) => Json,
  longest = longList,
): List<Json> {
  return items.length > longest ? new LazyList(converted(items, convert)) : [...converted(items, convert)];
}

function* converted<Item, Json>(items: ArrayLike<Item>, convert: (item: Item, index: number) => Json): Generator<Json> {
  for (let index = 0; index < items.length; index++) yield convert(items[index]!, index);
}

/** Labels as an object. */
export function labelsJson(labels: Labels): Record<string, string> {
  return Object.fromEntries(entriesOf(labels));
}

function vectorItem({ histogram, labels, value }: VectorSample, timeMs: number): VectorItemJson {
  const metric = labelsJson(labels);
  if (histogram !== null) return { metric, histogram: [timeMs / 1000, histogramJson(histogram)] };
  return { metric, value: [timeMs / 1000, formatSampleValue(value)] };
}

function matrixItem(series: MatrixSeries): MatrixItemJson {
  const item: MatrixItemJson = { metric: labelsJson(series.labels) };
  if (series.values.length > 0 || series.histograms.length === 0) {
    item.values = listOf(series.values, (value, index) => [
      series.timestampsMs[index]! / 1000,
      formatSampleValue(value),
    ]);
  }
  if (series.histograms.length > 0) {
    const histogram = (value: FloatHistogram, index: number): [number, HistogramJson] => [
      series.histogramTimestampsMs[index]! / 1000,
      histogramJson(value),
    ];
    item.histograms = listOf(series.histograms, histogram, longListOfHistograms);
  }
  return item;
}

function histogramJson(histogram: FloatHistogram): HistogramJson {
  return {
    count: formatSampleValue(histogram.count),
    sum: formatSampleValue(histogram.sum),
    buckets: allBuckets(histogram)
      .filter(({ count }) => count !== 0)
      .map((bucket) => [
        boundaryRule(bucket, histogram),
        formatSampleValue(bucket.lower),
        formatSampleValue(bucket.upper),
        formatSampleValue(bucket.count),
      ]),
  };
}

function boundaryRule({ lower, upper }: Bucket, histogram: FloatHistogram): number {
  if (usesCustomBuckets(histogram)) return lower === -Infinity ? 3 : 0;
  const isZeroBucket = lower === -upper;
  return isZeroBucket ? 3 : lower < 0 ? 1 : 0;
}

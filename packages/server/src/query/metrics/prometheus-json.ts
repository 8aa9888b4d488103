/** Results of queries in the JSON of Prometheus' HTTP API. https://prometheus.io/docs/prometheus/latest/querying/api/#expression-query-result-formats */
import { Slices } from "../../slices.ts";
import type { MatrixSeries, QueryValue, VectorSample } from "../promql/engine.ts";
import { allBuckets } from "../promql/histogram/bucket-bounds.ts";
import type { FloatHistogram } from "../promql/histogram/float-histogram.ts";
import { entriesOf, type Labels } from "../promql/series/labels.ts";
import { formatSampleValue } from "../promql/syntax/number-literal.ts";

/** Seconds and a number as text. */
export type SampleJson = [seconds: number, value: string];

export interface HistogramJson {
  count: string;
  sum: string;
  /** Which ends belong to the bucket (0 the upper, 1 the lower, 3 both), its bounds and its count. */
  buckets: [boundaries: number, lower: string, upper: string, count: string][];
}

export interface VectorItemJson {
  metric: Record<string, string>;
  value?: SampleJson;
  histogram?: [seconds: number, histogram: HistogramJson];
}

export interface MatrixItemJson {
  metric: Record<string, string>;
  values?: SampleJson[];
  histograms?: [seconds: number, histogram: HistogramJson][];
}

export type ResultJson =
  | { resultType: "vector"; result: VectorItemJson[] }
  | { resultType: "matrix"; result: MatrixItemJson[] }
  | { resultType: "scalar" | "string"; result: SampleJson };

/** Made in slices. @param timeMs when an instant query was evaluated */
// oxlint-disable-next-line typescript/consistent-return -- the switch is exhaustive, which tsc checks
export async function resultJson(value: QueryValue, timeMs: number): Promise<ResultJson> {
  switch (value.type) {
    case "vector":
      return {
        resultType: "vector",
        result: await eachInSlices(value.samples, (sample) => vectorItem(sample, timeMs)),
      };
    case "matrix":
      return { resultType: "matrix", result: await matrixItems(value.series) };
    case "scalar":
      return { resultType: "scalar", result: [timeMs / 1000, formatSampleValue(value.value)] };
    case "string":
      return { resultType: "string", result: [timeMs / 1000, value.value] };
  }
}

async function eachInSlices<Item, Result>(
  items: ArrayLike<Item>,
  convert: (item: Item, index: number) => Result,
  slices = new Slices(),
): Promise<Result[]> {
  const results: Result[] = [];
  for (let index = 0; index < items.length; index += 1) {
    results.push(convert(items[index]!, index));
    if (slices.isOver()) await slices.next();
  }
  return results;
}

async function matrixItems(series: readonly MatrixSeries[]): Promise<MatrixItemJson[]> {
  const items: MatrixItemJson[] = [];
  const slices = new Slices();
  for (const one of series) {
    items.push(await matrixItem(one, slices));
    if (slices.isOver()) await slices.next();
  }
  return items;
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

async function matrixItem(series: MatrixSeries, slices: Slices): Promise<MatrixItemJson> {
  const item: MatrixItemJson = { metric: labelsJson(series.labels) };
  if (series.values.length > 0 || series.histograms.length === 0) {
    const sample = (value: number, index: number): SampleJson => [
      series.timestampsMs[index]! / 1000,
      formatSampleValue(value),
    ];
    item.values = await eachInSlices(series.values, sample, slices);
  }
  if (series.histograms.length > 0) {
    item.histograms = series.histograms.map((histogram, index) => [
      series.histogramTimestampsMs[index]! / 1000,
      histogramJson(histogram),
    ]);
  }
  return item;
}

function histogramJson(histogram: FloatHistogram): HistogramJson {
  return {
    count: formatSampleValue(histogram.count),
    sum: formatSampleValue(histogram.sum),
    buckets: allBuckets(histogram)
      .filter(({ count }) => count !== 0)
      .map(({ count, lower, upper }) => [
        lower < 0 && upper > 0 ? 3 : lower < 0 ? 1 : 0,
        formatSampleValue(lower),
        formatSampleValue(upper),
        formatSampleValue(count),
      ]),
  };
}

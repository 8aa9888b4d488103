/** histogram_quantile, histogram_quantiles and histogram_fraction, on classic and native histograms. */
import { messages } from "../evaluate/annotations.ts";
import {
  absent,
  histogram,
  histogramAt,
  isEmpty,
  newColumn,
  setFloat,
  timeAt,
  type Column,
  type Grid,
} from "../evaluate/grid.ts";
import { workOfHistogram, workOfLabels } from "../evaluate/budget.ts";
import { ColumnCollector, sameLabelsError } from "../evaluate/merge-columns.ts";
import type { QueryContext } from "../evaluate/query-context.ts";
import { sortInSlices } from "../evaluate/sort-in-slices.ts";
import type { FloatHistogram } from "../histogram/float-histogram.ts";
import { histogramFraction, histogramQuantile, histogramVariance, type NanEffect } from "../histogram/quantile.ts";
import { dropLabels, getLabel, setLabels, type Labels } from "../series/labels.ts";
import { parseNumber } from "../syntax/number-literal.ts";
import type { SourceRange } from "../syntax/source-range.ts";
import { classicFraction, classicQuantile, type ClassicBucket } from "./classic-histogram.ts";

/** The functions from one native histogram to a float, by name; floats are dropped. */
export const histogramFunctions: Readonly<Record<string, (value: FloatHistogram) => number>> = {
  histogram_count: ({ count }) => count,
  histogram_sum: ({ sum }) => sum,
  histogram_avg: ({ count, sum }) => sum / count,
  histogram_stddev: (value) => Math.sqrt(histogramVariance(value)),
  histogram_stdvar: histogramVariance,
};

/** Where a function on histograms runs. */
export interface HistogramCall {
  readonly context: QueryContext;
  readonly grid: Grid;
  /** Where annotations about the histograms point to. */
  readonly at: SourceRange;
}

/** One value from each histogram at each step. */
interface Estimator {
  readonly ofNative: (value: FloatHistogram, step: number, metric: string) => number;
  readonly ofClassic: (buckets: readonly ClassicBucket[], step: number, metric: string) => number;
  /** The labels of the result. */
  readonly label: (labels: Labels) => Labels;
}

/** The quantile of each histogram. */
export function quantileColumns(
  columns: readonly Column[],
  quantiles: Float64Array,
  call: HistogramCall & { quantileAt: SourceRange },
): Promise<readonly Column[]> {
  for (const quantile of quantiles) {
    if (!(quantile >= 0 && quantile <= 1)) {
      call.context.annotations.warn(messages.invalidQuantile(quantile), call.quantileAt);
    }
  }
  return estimate(
    columns,
    quantileEstimator(quantiles, (labels) => labels, call),
    call,
  );
}

/** Several quantiles of each histogram, each with its number in a label. */
export async function manyQuantileColumns(
  columns: readonly Column[],
  quantiles: readonly { values: Float64Array; at: SourceRange }[],
  call: HistogramCall & { quantileLabel: string },
): Promise<readonly Column[]> {
  const results: Column[] = [];
  for (const { at, values } of quantiles) {
    const label = (labels: Labels): Labels =>
      setLabels(labels, new Map([[call.quantileLabel, openMetricsNumber(values[0]!)]]));
    for (const quantile of values) {
      if (!(quantile >= 0 && quantile <= 1)) call.context.annotations.warn(messages.invalidQuantile(quantile), at);
    }
    for (const column of await estimate(columns, quantileEstimator(values, label, call), call)) results.push(column);
  }
  return results;
}

/** As OpenMetrics writes numbers in labels: `1.0`, not `1`. */
function openMetricsNumber(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  const text = String(value).replace(/e([+-])(\d)$/, "e$10$2");
  return /[e.]/.test(text) ? text : `${text}.0`;
}

function quantileEstimator(
  quantiles: Float64Array,
  label: (labels: Labels) => Labels,
  { context, grid, at }: HistogramCall,
): Estimator {
  const { annotations } = context;
  return {
    label,
    ofNative: (value, step, metric) => {
      const result = histogramQuantile(quantiles[step]!, value);
      if (result.nanEffect === "nan_result") annotations.inform(messages.quantileNanResult(metric), at);
      if (result.nanEffect === "skewed") annotations.inform(messages.quantileNanSkew(metric), at);
      return result.value;
    },
    ofClassic: (buckets, step, metric) => {
      const { forced, value } = classicQuantile(quantiles[step]!, buckets);
      if (forced !== null) {
        const timeMs = timeAt(grid, step);
        const details = { ...forced, minTimeMs: timeMs, maxTimeMs: timeMs };
        annotations.informMonotonicity(messages.forcedMonotonicity(metric), at, details);
      }
      return value;
    },
  };
}

/** The share of each histogram's observations between two values. */
export function fractionColumns(
  columns: readonly Column[],
  limits: { lower: Float64Array; upper: Float64Array },
  call: HistogramCall,
): Promise<readonly Column[]> {
  const informOfNan = (effect: NanEffect, metric: string): void => {
    if (effect !== "none") call.context.annotations.inform(messages.fractionNans(metric), call.at);
  };
  const estimator: Estimator = {
    label: (labels) => labels,
    ofNative: (value, step, metric) => {
      const result = histogramFraction(limits.lower[step]!, limits.upper[step]!, value);
      informOfNan(result.nanEffect, metric);
      return result.value;
    },
    ofClassic: (buckets, step) => classicFraction(limits.lower[step]!, limits.upper[step]!, buckets),
  };
  return estimate(columns, estimator, call);
}

interface BucketColumn {
  readonly upperBound: number;
  readonly column: Column;
}

interface ClassicGroup {
  readonly labels: Labels;
  readonly unsorted: BucketColumn[];
  buckets: readonly BucketColumn[];
}

async function estimate(
  columns: readonly Column[],
  estimator: Estimator,
  call: HistogramCall,
): Promise<readonly Column[]> {
  const { context, grid } = call;
  const classic = await classicGroups(columns, call);
  const results = new ColumnCollector(grid.count, context.budget);
  const put = (labels: Labels, step: number, value: number): void => {
    const result = results.column(labels, true);
    if (result.kinds[step] !== absent) throw sameLabelsError();
    setFloat(result, step, value);
  };
  const conflicts = new Map<ClassicGroup, Set<number>>();
  for (const column of columns.filter(({ histograms }) => histograms !== null)) {
    const metric = getLabel(column.labels, "__name__");
    const labels = estimator.label(column.labels);
    const group = classic.get(column.labels.key);
    for (let step = 0; step < grid.count; step++) {
      if (column.kinds[step] !== histogram) continue;
      if (group?.buckets.some((bucket) => bucket.column.kinds[step] === 1) === true) {
        context.annotations.warn(messages.mixedClassicNative(metric), call.at);
        conflicts.set(group, (conflicts.get(group) ?? new Set()).add(step));
        continue;
      }
      put(labels, step, estimator.ofNative(histogramAt(column, step), step, metric));
      if (context.budget.spend(workOfHistogram)) await context.budget.yield();
    }
  }
  for (const group of classic.values()) {
    const metric = getLabel(group.labels, "__name__");
    const labels = estimator.label(group.labels);
    for (let step = 0; step < grid.count; step++) {
      const buckets = group.buckets
        .filter(({ column }) => column.kinds[step] === 1)
        .map(({ column, upperBound }) => ({ upperBound, count: column.values[step]! }));
      if (context.budget.spend(group.buckets.length * 4)) await context.budget.yield();
      if (buckets.length === 0 || conflicts.get(group)?.has(step) === true) continue;
      put(labels, step, estimator.ofClassic(buckets, step, metric));
    }
  }
  return results.columns.filter((column) => !isEmpty(column));
}

/** Bucket series by their labels without `le`, the bounds in order. */
async function classicGroups(
  columns: readonly Column[],
  call: HistogramCall,
): Promise<ReadonlyMap<string, ClassicGroup>> {
  const { budget } = call.context;
  const groups = new Map<string, ClassicGroup>();
  for (const column of columns) {
    if (budget.spend(workOfLabels + column.kinds.length / 8)) await budget.yield();
    if (!column.kinds.includes(1)) continue;
    const text = getLabel(column.labels, "le");
    const upperBound = parseNumber(text);
    if (upperBound === undefined) {
      const metric = getLabel(column.labels, "__name__");
      call.context.annotations.warn(messages.badBucketLabel(metric, text), call.at);
      continue;
    }
    const labels = dropLabels(column.labels, new Set(["le"]));
    const group = groups.get(labels.key);
    const bucket = { upperBound, column };
    if (group === undefined) groups.set(labels.key, { labels, unsorted: [bucket], buckets: [] });
    else group.unsorted.push(bucket);
  }
  for (const group of groups.values()) {
    if (budget.spend(group.unsorted.length)) await budget.yield();
    group.buckets = await sortInSlices(
      group.unsorted,
      (left, right) => left.upperBound - right.upperBound || 0,
      budget,
    );
  }
  return groups;
}

/** A function on each native histogram; floats and metric names are dropped. */
export async function mapHistograms(
  columns: readonly Column[],
  compute: (value: FloatHistogram) => number,
  { budget }: QueryContext,
): Promise<readonly Column[]> {
  const results: Column[] = [];
  for (const column of columns) {
    if (column.histograms === null) continue;
    budget.holdSamples(column.kinds.length);
    const result = newColumn(column.labels, true, column.kinds.length);
    for (let step = 0; step < column.kinds.length; step++) {
      if (column.kinds[step] !== histogram) continue;
      setFloat(result, step, compute(histogramAt(column, step)));
      if (budget.spend(workOfHistogram)) await budget.yield();
    }
    if (!isEmpty(result)) results.push(result);
  }
  return results;
}

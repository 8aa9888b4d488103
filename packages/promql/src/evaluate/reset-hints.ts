/**
 * Hints about counter resets inside histogram_count, histogram_sum and histogram_avg. There Prometheus reads histograms
 * without their buckets and so compares each sample with the one before while it reads; the hints that it finds decide
 * whether an aggregation around the samples warns of conflicting resets.
 */
import { isHistogramReset } from "../histogram/counter-reset.ts";
import type { FloatHistogram } from "../histogram/float-histogram.ts";
import type { StoredSeries } from "../storage.ts";
import type { Expression } from "../syntax/ast.ts";

const readingStatistics: ReadonlySet<string> = new Set(["histogram_count", "histogram_sum", "histogram_avg"]);
const readingBuckets: ReadonlySet<string> = new Set([
  "histogram_quantile",
  "histogram_quantiles",
  "histogram_fraction",
]);

/** Whether only counts and sums are read of a selector's histograms; `parents` from the query's top to its parent. */
export function readsOnlyStatistics(parents: readonly Expression[]): boolean {
  let found = false;
  for (const parent of parents.toReversed()) {
    if (parent.kind === "subquery") return false;
    if (parent.kind === "binary" && (parent.operator === "</" || parent.operator === ">/")) return false;
    if (parent.kind !== "call") continue;
    if (readingBuckets.has(parent.function)) return false;
    found ||= readingStatistics.has(parent.function);
  }
  return found;
}

/** The series with unknown hints filled in: each histogram but the first is compared with the one before. */
export function withResetHints(series: StoredSeries): StoredSeries {
  if (series.histograms === undefined) return series;
  let previous: FloatHistogram | null = null;
  const histograms = series.histograms.map((histogram) => {
    if (histogram === null) return null;
    const before: FloatHistogram | null = previous;
    previous = histogram;
    if (before === null || histogram.counterResetHint !== "unknown") return histogram;
    const counterResetHint = isHistogramReset(histogram, before) ? "reset" : "not_reset";
    return { ...histogram, counterResetHint } as const;
  });
  return { ...series, histograms };
}

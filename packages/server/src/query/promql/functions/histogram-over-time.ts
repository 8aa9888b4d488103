/** Sums and means of several histograms; the aggregations sum and avg use them too. */
import { messages, type Annotations } from "../evaluate/annotations.ts";
import { divideHistogram, hasOverflow, type FloatHistogram } from "../histogram/float-histogram.ts";
import {
  addToSum,
  finishSum,
  scaleSum,
  startSum,
  type CompensatedHistogram,
} from "../histogram/histogram-arithmetic.ts";
import type { SourceRange } from "../syntax/source-range.ts";

interface Reporting {
  readonly annotations: Annotations;
  readonly at: SourceRange;
  readonly metric: string;
}

/** The total, or undefined, with a warning, when the kinds of buckets differ. */
export type HistogramTotal = (values: readonly FloatHistogram[], report: Reporting) => FloatHistogram | undefined;

export const sumHistograms: HistogramTotal = (values, report) => {
  const adder = histogramAdder(values[0]!, report);
  for (const value of values.slice(1)) {
    if (!adder.add(value)) return undefined;
  }
  return adder.sum();
};

export const averageHistograms: HistogramTotal = (values, report) => {
  const adder = histogramAdder(values[0]!, report);
  for (const value of values.slice(1)) {
    if (!adder.addToMean(value)) return undefined;
  }
  return adder.mean();
};

/** Adds histograms one by one; false from the adding functions says that the kinds of buckets differ. */
export interface HistogramAdder {
  add(value: FloatHistogram): boolean;
  addToMean(value: FloatHistogram): boolean;
  sum(): FloatHistogram;
  mean(): FloatHistogram;
}

export function histogramAdder(first: FloatHistogram, report: Reporting): HistogramAdder {
  let total = startSum(first);
  let count = 1;
  let isIncremental = false;
  const hints = new Set([first.counterResetHint]);
  const addTo = (to: CompensatedHistogram, value: FloatHistogram): CompensatedHistogram | undefined => {
    const addition = addToSum(to, value);
    if (addition === undefined) {
      report.annotations.warn(messages.mixedBucketKinds(report.metric), report.at);
      return undefined;
    }
    if (addition.boundsReconciled) report.annotations.inform(messages.mismatchedBounds("aggregation"), report.at);
    return addition.result;
  };
  const finish = (result: FloatHistogram): FloatHistogram => {
    if (hints.has("reset") && hints.has("not_reset")) {
      report.annotations.warn(messages.resetCollision("aggregation"), report.at);
    }
    return result;
  };
  return {
    add(value) {
      hints.add(value.counterResetHint);
      const next = addTo(total, value);
      if (next !== undefined) total = next;
      return next !== undefined;
    },
    addToMean(value) {
      hints.add(value.counterResetHint);
      count++;
      if (!isIncremental) {
        const next = addTo(total, value);
        if (next === undefined) return false;
        if (!hasOverflow(next.histogram)) {
          total = next;
          return true;
        }
        // The sum would be infinite: from here on the mean itself is adjusted.
        isIncremental = true;
        total = scaleSum(total, 1 / (count - 1));
      }
      const next = addTo(scaleSum(total, (count - 1) / count), divideHistogram(value, count));
      if (next !== undefined) total = next;
      return next !== undefined;
    },
    sum: () => finish(finishSum(total)),
    mean: () => {
      if (isIncremental) return finish(finishSum(total));
      const { histogram, ...lost } = total;
      const share = (value: number): number => value / count;
      return finish(
        finishSum({
          histogram: divideHistogram(histogram, count),
          zeroCount: share(lost.zeroCount),
          count: share(lost.count),
          sum: share(lost.sum),
          positive: lost.positive.map(share),
          negative: lost.negative.map(share),
        }),
      );
    },
  };
}

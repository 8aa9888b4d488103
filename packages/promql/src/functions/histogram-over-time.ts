/** Sums and means of several histograms; the aggregations sum and avg use them too. */
import { messages, type Annotations } from "../evaluate/annotations.ts";
import { divideHistogram, hasOverflow, type FloatHistogram } from "../histogram/float-histogram.ts";
import {
  addToSum,
  divideSum,
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
  const adder = new HistogramAdder(values[0]!, report);
  for (const value of values.slice(1)) {
    if (!adder.add(value)) return undefined;
  }
  return adder.sum();
};

export const averageHistograms: HistogramTotal = (values, report) => {
  const adder = new HistogramAdder(values[0]!, report);
  for (const value of values.slice(1)) {
    if (!adder.addToMean(value)) return undefined;
  }
  return adder.mean();
};

/** Adds histograms one by one to a sum or to a mean; returns false if the kinds of buckets differ. */
export class HistogramAdder {
  readonly #report: Reporting;
  readonly #hints: Set<string>;
  #total: CompensatedHistogram;
  #count = 1;
  #isIncremental = false;

  constructor(first: FloatHistogram, report: Reporting) {
    this.#report = report;
    this.#hints = new Set([first.counterResetHint]);
    this.#total = startSum(first);
  }

  add(value: FloatHistogram): boolean {
    return this.#keep(this.#plus(this.#total, value));
  }

  addToMean(value: FloatHistogram): boolean {
    this.#count++;
    if (!this.#isIncremental) {
      const next = this.#plus(this.#total, value);
      if (next === undefined || !hasOverflow(next.histogram)) return this.#keep(next);
      // The sum would be infinite: from here on, the mean itself is updated.
      this.#isIncremental = true;
      this.#total = scaleSum(this.#total, 1 / (this.#count - 1));
    }
    const share = scaleSum(this.#total, (this.#count - 1) / this.#count);
    return this.#keep(this.#plus(share, divideHistogram(value, this.#count)));
  }

  sum(): FloatHistogram {
    this.#warnOfCollision();
    return finishSum(this.#total);
  }

  mean(): FloatHistogram {
    this.#warnOfCollision();
    return finishSum(this.#isIncremental ? this.#total : divideSum(this.#total, this.#count));
  }

  #plus(total: CompensatedHistogram, value: FloatHistogram): CompensatedHistogram | undefined {
    const { annotations, at, metric } = this.#report;
    this.#hints.add(value.counterResetHint);
    const addition = addToSum(total, value);
    if (addition === undefined) annotations.warn(messages.mixedBucketKinds(metric), at);
    if (addition?.boundsReconciled === true) annotations.inform(messages.mismatchedBounds("aggregation"), at);
    return addition?.result;
  }

  #keep(total: CompensatedHistogram | undefined): boolean {
    if (total !== undefined) this.#total = total;
    return total !== undefined;
  }

  #warnOfCollision(): void {
    if (!this.#hints.has("reset") || !this.#hints.has("not_reset")) return;
    this.#report.annotations.warn(messages.resetCollision("aggregation"), this.#report.at);
  }
}

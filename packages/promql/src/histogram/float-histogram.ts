/**
 * Native histograms with float counts: exponential buckets (schemas -4 … 8) and custom ones (schema -53).
 * https://prometheus.io/docs/specs/native_histograms/
 *
 * Buckets are kept sparse as indexes and counts, in ascending order of the index, empty ones only where they came so.
 */

export type CounterResetHint = "unknown" | "reset" | "not_reset" | "gauge";

export interface Buckets {
  readonly indexes: readonly number[];
  readonly counts: readonly number[];
}

export interface FloatHistogram {
  readonly counterResetHint: CounterResetHint;
  readonly schema: number;
  readonly zeroThreshold: number;
  readonly zeroCount: number;
  readonly count: number;
  readonly sum: number;
  readonly positive: Buckets;
  readonly negative: Buckets;
  /** The upper bounds of custom buckets, without +Inf; empty for exponential ones. */
  readonly customValues: readonly number[];
}

export const customBucketsSchema = -53;

export const noBuckets: Buckets = Object.freeze({ indexes: Object.freeze([]), counts: Object.freeze([]) });

export const emptyHistogram: FloatHistogram = Object.freeze({
  counterResetHint: "unknown",
  schema: 0,
  zeroThreshold: 0,
  zeroCount: 0,
  count: 0,
  sum: 0,
  positive: noBuckets,
  negative: noBuckets,
  customValues: Object.freeze([]),
});

/** What a histogram takes in memory, in samples. */
export function samplesOfHistogram({ customValues, negative, positive }: FloatHistogram): number {
  return 4 + positive.counts.length + negative.counts.length + customValues.length;
}

export function usesCustomBuckets(histogram: FloatHistogram): boolean {
  return histogram.schema === customBucketsSchema;
}

/** Everything that counts, through a function; the hint stays. */
function mapCounts(histogram: FloatHistogram, change: (count: number) => number): FloatHistogram {
  return {
    ...histogram,
    zeroCount: change(histogram.zeroCount),
    count: change(histogram.count),
    sum: change(histogram.sum),
    positive: { indexes: histogram.positive.indexes, counts: histogram.positive.counts.map(change) },
    negative: { indexes: histogram.negative.indexes, counts: histogram.negative.counts.map(change) },
  };
}

/** All counts and the sum times a factor; with a negative one the result is a gauge. */
export function multiplyHistogram(histogram: FloatHistogram, factor: number): FloatHistogram {
  const scaled = mapCounts(histogram, (count) => count * factor);
  return factor < 0 ? { ...scaled, counterResetHint: "gauge" } : scaled;
}

/** Like `multiplyHistogram`; a division by zero also removes the buckets. */
export function divideHistogram(histogram: FloatHistogram, divisor: number): FloatHistogram {
  const scaled = mapCounts(histogram, (count) => count / divisor);
  if (divisor === 0) return { ...scaled, positive: noBuckets, negative: noBuckets };
  return divisor < 0 ? { ...scaled, counterResetHint: "gauge" } : scaled;
}

/** Without empty buckets. */
export function compactHistogram(histogram: FloatHistogram): FloatHistogram {
  const positive = compactBuckets(histogram.positive);
  const negative = compactBuckets(histogram.negative);
  if (positive === histogram.positive && negative === histogram.negative) return histogram;
  return { ...histogram, positive, negative };
}

export function compactBuckets(buckets: Buckets): Buckets {
  if (!buckets.counts.includes(0)) return buckets;
  const kept = buckets.counts.flatMap((count, position) => (count === 0 ? [] : [position]));
  return {
    indexes: kept.map((position) => buckets.indexes[position]!),
    counts: kept.map((position) => buckets.counts[position]!),
  };
}

/** Whether some count or the sum is infinite, as after adding too much. */
export function hasOverflow(histogram: FloatHistogram): boolean {
  const isInfinite = (value: number): boolean => value === Infinity || value === -Infinity;
  return (
    isInfinite(histogram.zeroCount) ||
    isInfinite(histogram.count) ||
    isInfinite(histogram.sum) ||
    histogram.positive.counts.some(isInfinite) ||
    histogram.negative.counts.some(isInfinite)
  );
}

/** Equality of data: the same buckets with the same counts; NaN equals NaN and hints do not matter. */
export function equalHistograms(left: FloatHistogram, right: FloatHistogram): boolean {
  return (
    left.schema === right.schema &&
    Object.is(left.count, right.count) &&
    Object.is(left.sum, right.sum) &&
    left.zeroThreshold === right.zeroThreshold &&
    Object.is(left.zeroCount, right.zeroCount) &&
    equalNumbers(left.customValues, right.customValues) &&
    equalBuckets(left.positive, right.positive) &&
    equalBuckets(left.negative, right.negative)
  );
}

function equalBuckets(left: Buckets, right: Buckets): boolean {
  return equalNumbers(left.indexes, right.indexes) && equalNumbers(left.counts, right.counts);
}

export function equalNumbers(left: readonly number[], right: readonly number[]): boolean {
  return left.length === right.length && left.every((value, index) => Object.is(value, right[index]));
}

/** Quantiles, fractions and the variance of native histograms. */
import { CompensatedSum } from "../series/compensated-sum.ts";
import { allBuckets, fractionBelow, hasBuckets, type Bucket } from "./bucket-bounds.ts";
import { usesCustomBuckets, type FloatHistogram } from "./float-histogram.ts";

/** What NaN observations did to a result: they count, but are in no bucket. */
export type NanEffect = "none" | "nan_result" | "skewed";

export interface HistogramEstimate {
  readonly value: number;
  readonly nanEffect: NanEffect;
}

const exact = (value: number): HistogramEstimate => ({ value, nanEffect: "none" });

/** The zero bucket of a histogram whose other buckets are all on one side ends at zero. */
function clampZeroBucket(bucket: Bucket, histogram: FloatHistogram): Bucket {
  const hasPositive = hasBuckets(histogram.positive);
  const hasNegative = hasBuckets(histogram.negative);
  if (!hasNegative && hasPositive) return { ...bucket, lower: 0 };
  if (!hasPositive && hasNegative) return { ...bucket, upper: 0 };
  return bucket;
}

/**
 * The quantile, interpolated inside its bucket: exponentially between exponential bounds, linearly in the zero bucket
 * and between custom bounds. -Inf below 0, +Inf above 1, NaN without observations.
 */
export function histogramQuantile(quantile: number, histogram: FloatHistogram): HistogramEstimate {
  if (quantile < 0) return exact(-Infinity);
  if (quantile > 1) return exact(Infinity);
  if (histogram.count === 0 || Number.isNaN(quantile)) return exact(Number.NaN);
  // From the nearer end, since less is added up then; NaN observations count as the greatest of all.
  const hasNan = Number.isNaN(histogram.sum);
  const fromBelow = hasNan || quantile < 0.5;
  const buckets = allBuckets(histogram);
  if (!fromBelow) buckets.reverse();
  let rank = (fromBelow ? quantile : 1 - quantile) * histogram.count;
  let count = 0;
  let bucket: Bucket = { lower: 0, upper: 0, count: 0 };
  let position = 0;
  while (position < buckets.length) {
    bucket = buckets[position++]!;
    if (bucket.count === 0) continue;
    count += bucket.count;
    if (count >= rank) break;
  }
  if (usesCustomBuckets(histogram)) {
    if (bucket.lower === -Infinity) {
      if (bucket.upper <= 0) return exact(bucket.upper);
      bucket = { ...bucket, lower: 0 };
    } else if (bucket.upper === Infinity) {
      return exact(bucket.lower);
    }
  } else if (bucket.lower < 0 && bucket.upper > 0) {
    bucket = clampZeroBucket(bucket, histogram);
  }
  count = Math.min(count, histogram.count);
  if (count < rank) return hasNan ? { value: Number.NaN, nanEffect: "nan_result" } : exact(bucket.upper);
  rank = fromBelow ? rank - (count - bucket.count) : count - rank;
  const rest = buckets.slice(position).reduce((sum, { count: more }) => sum + more, 0);
  const nanEffect = hasNan && count + rest < histogram.count ? "skewed" : "none";
  return { value: interpolate(bucket, rank / bucket.count, usesCustomBuckets(histogram)), nanEffect };
}

function interpolate({ lower, upper }: Bucket, fraction: number, isCustom: boolean): number {
  if (isCustom || (lower <= 0 && upper >= 0)) return lower + (upper - lower) * fraction;
  const logLower = Math.log2(Math.abs(lower));
  const logUpper = Math.log2(Math.abs(upper));
  if (lower > 0) return 2 ** (logLower + (logUpper - logLower) * fraction);
  return -(2 ** (logUpper + (logLower - logUpper) * (1 - fraction)));
}

/** The share of observations between two values; `nanEffect` is "skewed" when NaN observations are in no share. */
export function histogramFraction(lower: number, upper: number, histogram: FloatHistogram): HistogramEstimate {
  if (histogram.count === 0 || Number.isNaN(lower) || Number.isNaN(upper)) return exact(Number.NaN);
  if (lower >= upper) return exact(0);
  const buckets = allBuckets(histogram);
  const inBuckets = buckets.reduce((sum, { count }) => sum + count, 0);
  const hasNan = Number.isNaN(histogram.sum);
  const total = hasNan ? inBuckets : histogram.count;
  const rankAt = (value: number): number => Math.min(rankOf(value, buckets, histogram) ?? total, total);
  return {
    value: (rankAt(upper) - rankAt(lower)) / histogram.count,
    nanEffect: hasNan && inBuckets < histogram.count ? "skewed" : "none",
  };
}

/** How many observations lie below the value; undefined when it is above all buckets. */
function rankOf(value: number, buckets: readonly Bucket[], histogram: FloatHistogram): number | undefined {
  let rank = 0;
  for (const original of buckets) {
    const isZeroBucket = original.lower <= 0 && original.upper >= 0;
    const bucket = isZeroBucket ? clampZeroBucket(original, histogram) : original;
    if (bucket.lower >= value) return rank;
    if (bucket.upper > value) {
      const linear = usesCustomBuckets(histogram) || isZeroBucket;
      // An infinitely wide bucket cannot be divided: all of it is below.
      if (linear && bucket.lower === -Infinity) return bucket.count;
      return rank + bucket.count * fractionBelow(bucket, value, linear);
    }
    rank += bucket.count;
  }
  return undefined;
}

/** The variance of the observations, assuming each is in the middle of its bucket. */
export function histogramVariance(histogram: FloatHistogram): number {
  const mean = histogram.sum / histogram.count;
  const variance = new CompensatedSum();
  for (const { lower, upper, count } of allBuckets(histogram)) {
    if (count === 0) continue;
    const difference = bucketMiddle(lower, upper, usesCustomBuckets(histogram)) - mean;
    variance.add(count * difference * difference);
  }
  return variance.total / histogram.count;
}

function bucketMiddle(lower: number, upper: number, isCustom: boolean): number {
  if (isCustom) return (upper + lower) / 2;
  if (lower <= 0 && upper >= 0) return 0;
  return Math.sqrt(upper * lower) * (upper < 0 ? -1 : 1);
}

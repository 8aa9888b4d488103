/** The operators `</` and `>/`: a histogram without the observations above or below a value. */
import { fractionBelow, negativeBuckets, positiveBuckets, type Bucket } from "./bucket-bounds.ts";
import { compactHistogram, usesCustomBuckets, type FloatHistogram } from "./float-histogram.ts";

interface Trim {
  readonly value: number;
  /** Keep what is below the value rather than what is above. */
  readonly keepBelow: boolean;
  readonly isCustom: boolean;
}

interface Kept {
  readonly count: number;
  /** Where the kept observations are assumed to be, for the new sum. */
  readonly middle: number;
}

/** The histogram with only the observations on one side of a value; buckets that contain it are interpolated. */
export function trimHistogram(histogram: FloatHistogram, value: number, keepBelow: boolean): FloatHistogram {
  const trim: Trim = { value, keepBelow, isCustom: usesCustomBuckets(histogram) };
  const positive = positiveBuckets(histogram);
  const negative = negativeBuckets(histogram);
  const keptPositive = positive.map((bucket) => keepOf(bucket, trim, true));
  const keptNegative = negative.map((bucket) => keepOf(bucket, trim, false));
  const isPopulated = (buckets: readonly Bucket[]): boolean => buckets.some(({ count }) => count !== 0);
  const zero = keepOfZeroBucket(histogram, trim, { positive: isPopulated(positive), negative: isPopulated(negative) });
  const isUnchanged =
    zero.count === histogram.zeroCount &&
    keptPositive.every(({ count }, index) => count === positive[index]!.count) &&
    keptNegative.every(({ count }, index) => count === negative[index]!.count);
  if (isUnchanged) return histogram;
  // A negative zero bucket, possible in a difference, is kept as it is and does not count.
  const keptZero = histogram.zeroCount > 0 ? [zero] : [];
  const kept = [...keptPositive, ...keptNegative, ...keptZero].filter(({ count }) => count !== 0);
  return compactHistogram({
    ...histogram,
    zeroCount: zero.count,
    count: kept.reduce((sum, { count }) => sum + count, 0),
    sum: kept.reduce((sum, { count, middle }) => sum + count * middle, 0),
    positive: { indexes: histogram.positive.indexes, counts: keptPositive.map(({ count }) => count) },
    negative: { indexes: histogram.negative.indexes, counts: keptNegative.map(({ count }) => count) },
  });
}

function keepOf(bucket: Bucket, trim: Trim, isPositive: boolean): Kept {
  const { lower, upper, count } = bucket;
  const { value, keepBelow, isCustom } = trim;
  if (count === 0) return { count: 0, middle: 0 };
  if (keepBelow ? upper <= value : lower >= value) {
    return { count, middle: middleOf(lower, upper, { isPositive, isCustom }) };
  }
  if (keepBelow ? lower >= value : upper <= value) return { count: 0, middle: 0 };
  if (lower === -Infinity || upper === Infinity) return keepOfInfinite(bucket, trim);
  const below = count * fractionBelow(bucket, value, isCustom);
  return keepBelow
    ? { count: below, middle: middleOf(lower, value, { isPositive, isCustom }) }
    : { count: count - below, middle: middleOf(value, upper, { isPositive, isCustom }) };
}

/** An unbounded bucket that contains the value: the distribution of its observations is unknown. */
function keepOfInfinite({ lower, upper, count }: Bucket, { value, keepBelow }: Trim): Kept {
  if (lower === -Infinity) {
    // With a positive bound, the observations are assumed to be positive too.
    const isFinitePositive = upper > 0 && upper !== Infinity;
    if (keepBelow) {
      if (value > 0 && isFinitePositive) return { count: (count * value) / upper, middle: value / 2 };
      return upper <= 0 ? { count, middle: value } : { count: 0, middle: 0 };
    }
    if (value >= 0 && isFinitePositive) return { count: count * (1 - value / upper), middle: (value + upper) / 2 };
    return { count: 0, middle: 0 };
  }
  return keepBelow || value < lower ? { count: 0, middle: 0 } : { count, middle: value };
}

function keepOfZeroBucket(
  { zeroCount, zeroThreshold }: FloatHistogram,
  { value, keepBelow }: Trim,
  populated: { positive: boolean; negative: boolean },
): Kept {
  if (!(zeroCount > 0)) return { count: zeroCount, middle: 0 };
  const lower = populated.positive && !populated.negative ? 0 : -zeroThreshold;
  const upper = populated.negative && !populated.positive ? 0 : zeroThreshold;
  if (keepBelow) {
    if (value <= lower) return { count: 0, middle: 0 };
    if (value >= upper) return { count: zeroCount, middle: (lower + upper) / 2 };
    return { count: (zeroCount * (value - lower)) / (upper - lower), middle: (lower + value) / 2 };
  }
  if (value <= lower) return { count: zeroCount, middle: (lower + upper) / 2 };
  if (value >= upper) return { count: 0, middle: 0 };
  return { count: (zeroCount * (upper - value)) / (upper - lower), middle: (value + upper) / 2 };
}

function middleOf(lower: number, upper: number, kind: { isPositive: boolean; isCustom: boolean }): number {
  if (lower === -Infinity) {
    if (upper === Infinity) return 0;
    return upper > 0 ? upper / 2 : upper;
  }
  if (upper === Infinity) return lower;
  if (kind.isCustom) return (lower + upper) / 2;
  const geometric = Math.sqrt(Math.abs(lower * upper));
  return kind.isPositive ? geometric : -geometric;
}

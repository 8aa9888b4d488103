/**
 * Quantiles and fractions of classic histograms: cumulative counts by upper bound.
 * https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile
 */

export interface ClassicBucket {
  readonly upperBound: number;
  readonly count: number;
}

/** Where cumulative counts decreased and were raised to the previous count. */
export interface ForcedMonotonicity {
  readonly minBucket: number;
  readonly maxBucket: number;
  readonly maxDifference: number;
}

export interface ClassicQuantile {
  readonly value: number;
  readonly forced: ForcedMonotonicity | null;
}

/** Relative differences below this come from floating point, not from the data. */
const smallDifference = 1e-12;

/**
 * The quantile, linear inside its bucket, whose lowest lower bound is 0 if its upper bound is positive. NaN without a
 * +Inf bucket, with fewer than two buckets or without observations.
 */
export function classicQuantile(quantile: number, unsorted: readonly ClassicBucket[]): ClassicQuantile {
  if (Number.isNaN(quantile)) return { value: Number.NaN, forced: null };
  if (quantile < 0) return { value: -Infinity, forced: null };
  if (quantile > 1) return { value: Infinity, forced: null };
  const sorted = sortBuckets(unsorted);
  if (sorted.at(-1)?.upperBound !== Infinity) return { value: Number.NaN, forced: null };
  const { buckets, forced } = makeMonotonic(sorted);
  const observations = buckets.at(-1)!.count;
  if (buckets.length < 2 || observations === 0) return { value: Number.NaN, forced };
  return { value: quantileInBuckets(quantile * observations, buckets), forced };
}

function quantileInBuckets(rank: number, buckets: readonly ClassicBucket[]): number {
  const last = buckets.length - 1;
  const found = buckets.findIndex(({ count }) => count >= rank);
  const index = found === -1 ? last : found;
  if (index === last) return buckets[last - 1]!.upperBound;
  const { upperBound, count } = buckets[index]!;
  if (index === 0 && upperBound <= 0) return upperBound;
  const below = index === 0 ? { upperBound: 0, count: 0 } : buckets[index - 1]!;
  const share = (rank - below.count) / (count - below.count);
  return below.upperBound + (upperBound - below.upperBound) * share;
}

/** By upper bound, buckets with the same one merged. */
function sortBuckets(unsorted: readonly ClassicBucket[]): ClassicBucket[] {
  const sorted: ClassicBucket[] = [];
  for (const bucket of unsorted.toSorted((left, right) => left.upperBound - right.upperBound || 0)) {
    const previous = sorted.at(-1);
    if (previous?.upperBound !== bucket.upperBound) sorted.push(bucket);
    else sorted[sorted.length - 1] = { ...bucket, count: previous.count + bucket.count };
  }
  return sorted;
}

function makeMonotonic(sorted: readonly ClassicBucket[]): {
  buckets: readonly ClassicBucket[];
  forced: ForcedMonotonicity | null;
} {
  let minBucket = Infinity;
  let maxBucket = -Infinity;
  let maxDifference = 0;
  let previous = sorted[0]!.count;
  const buckets = sorted.map((bucket) => {
    const { count, upperBound } = bucket;
    if (count === previous) return bucket;
    if (almostEqual(previous, count, smallDifference)) return { upperBound, count: previous };
    if (count < previous) {
      minBucket = Math.min(minBucket, upperBound);
      maxBucket = Math.max(maxBucket, upperBound);
      maxDifference = Math.max(maxDifference, previous - count);
      return { upperBound, count: previous };
    }
    previous = count;
    return bucket;
  });
  return { buckets, forced: maxBucket === -Infinity ? null : { minBucket, maxBucket, maxDifference } };
}

const smallestNormal = 2 ** -1022;

/** Equal up to a relative difference; NaN equals NaN. https://floating-point-gui.de/errors/comparison/ */
export function almostEqual(left: number, right: number, tolerance: number): boolean {
  if (left === right || (Number.isNaN(left) && Number.isNaN(right))) return true;
  const sum = Math.abs(left) + Math.abs(right);
  const difference = Math.abs(left - right);
  if (left === 0 || right === 0 || sum < smallestNormal) return difference < tolerance * smallestNormal;
  return difference / Math.min(sum, Number.MAX_VALUE) < tolerance;
}

/** The share of observations between two values. */
export function classicFraction(lower: number, upper: number, unsorted: readonly ClassicBucket[]): number {
  const buckets = sortBuckets(unsorted);
  const last = buckets.at(-1);
  if (last?.upperBound !== Infinity || last.count === 0) return Number.NaN;
  if (Number.isNaN(lower) || Number.isNaN(upper)) return Number.NaN;
  if (lower >= upper) return 0;
  const total = last.count;
  const rankAt = (value: number): number => Math.min(rankOf(value, buckets) ?? total, total);
  return (rankAt(upper) - rankAt(lower)) / total;
}

/** How many observations lie below the value; undefined when it is above all buckets. */
function rankOf(value: number, buckets: readonly ClassicBucket[]): number | undefined {
  let rank = 0;
  let lowerBound = buckets[0]!.upperBound <= 0 ? -Infinity : 0;
  for (const { count, upperBound } of buckets) {
    if (lowerBound >= value) return rank;
    if (upperBound > value) {
      // An infinitely wide bucket cannot be divided: all of it is below.
      if (lowerBound === -Infinity) return count;
      return rank + ((count - rank) * (value - lowerBound)) / (upperBound - lowerBound);
    }
    rank = count;
    lowerBound = upperBound;
  }
  return undefined;
}

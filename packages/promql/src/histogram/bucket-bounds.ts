/** Where buckets begin and end. */
import { usesCustomBuckets, type Buckets, type FloatHistogram } from "./float-histogram.ts";

export interface Bucket {
  readonly lower: number;
  readonly upper: number;
  readonly count: number;
}

/**
 * The bounds between 0.5 and 1 of schemas 0 to 8, computed as Prometheus computed its table, so that bounds are the
 * same to the last digit: each second one is the next lower schema's, the one after it is that times a factor.
 */
const fractions: readonly (readonly number[])[] = fractionTable();

function fractionTable(): number[][] {
  const table = [[0.5], [0.5, 0.707_106_781_186_547_5]];
  for (let schema = 2; schema <= 8; schema++) {
    const factor = 2 ** (2 ** -schema);
    const bounds = [0.5];
    for (let index = 1; index < 2 ** schema; index++) {
      bounds.push(index % 2 === 0 ? table[schema - 1]![index / 2]! : bounds[index - 1]! * factor);
    }
    table.push(bounds);
  }
  return table;
}

/**
 * The upper bound of a positive exponential bucket: 2 ^ (index / 2^schema). The last bucket for finite numbers ends
 * at the largest double instead of infinity, the one after it holds the infinities.
 */
export function exponentialBound(index: number, schema: number): number {
  if (schema < 0) {
    const exponent = index * 2 ** -schema;
    return exponent === 1024 ? Number.MAX_VALUE : 2 ** exponent;
  }
  const perPower = 2 ** schema;
  const exponent = Math.floor(index / perPower) + 1;
  const fraction = fractions[schema]![index - (exponent - 1) * perPower]!;
  if (fraction === 0.5 && exponent === 1025) return Number.MAX_VALUE;
  // In two steps: 2 ** 1024 is infinite even if the product is not.
  return fraction * 2 * 2 ** (exponent - 1);
}

function boundOf(index: number, histogram: FloatHistogram): number {
  if (!usesCustomBuckets(histogram)) return exponentialBound(index, histogram.schema);
  if (index < 0) return -Infinity;
  return histogram.customValues[index] ?? Infinity;
}

/** The positive buckets, ascending from zero; custom ones all count as positive. */
export function positiveBuckets(histogram: FloatHistogram): Bucket[] {
  const { counts, indexes } = histogram.positive;
  return indexes.map((index, position) => ({
    lower: boundOf(index - 1, histogram),
    upper: boundOf(index, histogram),
    count: counts[position]!,
  }));
}

/** The negative buckets, downwards from zero. */
export function negativeBuckets(histogram: FloatHistogram): Bucket[] {
  const { counts, indexes } = histogram.negative;
  return indexes.map((index, position) => ({
    lower: -boundOf(index, histogram),
    upper: -boundOf(index - 1, histogram),
    count: counts[position]!,
  }));
}

/** All buckets in ascending order; those that reach into the zero bucket end where it begins. */
export function allBuckets(histogram: FloatHistogram): Bucket[] {
  const { zeroCount, zeroThreshold } = histogram;
  const buckets = negativeBuckets(histogram).reverse();
  if (zeroCount > 0) buckets.push({ lower: -zeroThreshold, upper: zeroThreshold, count: zeroCount });
  buckets.push(...positiveBuckets(histogram));
  return buckets.map((bucket) => {
    if (bucket.upper < 0 && bucket.upper > -zeroThreshold) return { ...bucket, upper: -zeroThreshold };
    if (bucket.lower > 0 && bucket.lower < zeroThreshold) return { ...bucket, lower: zeroThreshold };
    return bucket;
  });
}

/** Whether a side has buckets at all, empty ones included. */
export function hasBuckets(buckets: Buckets): boolean {
  return buckets.indexes.length > 0;
}

/**
 * How much of a bucket lies below a value that is strictly inside it: linear in value, or in its logarithm as fits
 * exponential buckets.
 */
export function fractionBelow(bucket: Bucket, value: number, linear: boolean): number {
  if (linear) return (value - bucket.lower) / (bucket.upper - bucket.lower);
  const lower = Math.log2(Math.abs(bucket.lower));
  const upper = Math.log2(Math.abs(bucket.upper));
  const at = Math.log2(Math.abs(value));
  return value > 0 ? (at - lower) / (upper - lower) : 1 - (at - upper) / (lower - upper);
}

/** Histograms whose buckets are powers of two, and their quantiles: the numbers are Tempo's. */

/** The bucket of a value: its upper bound, the next power of two. Undefined for values below 2, which have none. */
export function bucketOf(value: bigint): bigint | undefined {
  return value < 2n ? undefined : 1n << BigInt((value - 1n).toString(2).length);
}

export interface Bucket {
  readonly max: number;
  readonly count: number;
}

/** A quantile of buckets in rising order, interpolated on a scale of powers of two. */
export function quantileOf(quantile: number, buckets: readonly Bucket[]): number {
  const total = buckets.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return 0;
  const wanted = Math.max(1, Math.ceil(quantile * total));
  let below = 0;
  let index = 0;
  for (const [each, { count, max }] of buckets.entries()) {
    index = each;
    if (below + count > wanted) break;
    below += count;
    if (below === wanted) return max;
  }
  const bucket = buckets[index]!;
  const upper = Math.log2(bucket.max);
  const lower = index > 0 ? Math.log2(buckets[index - 1]!.max) : upper - 1;
  return 2 ** (lower + (upper - lower) * ((wanted - below) / bucket.count));
}

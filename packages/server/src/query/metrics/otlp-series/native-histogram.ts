/** Converts OTLP's exponential histograms to Prometheus' native histograms. https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/#exponential-histograms */
import { noBuckets, type Buckets, type FloatHistogram } from "@sounding/promql/histogram/float-histogram";

export interface ExponentialPoint {
  readonly count: number;
  /** NaN if absent. */
  readonly sum: number;
  readonly scale: number;
  readonly zeroCount: number;
  /** NaN if absent. */
  readonly zeroThreshold: number;
  readonly positive: ExponentialBuckets;
  readonly negative: ExponentialBuckets;
}

export interface ExponentialBuckets {
  readonly offset: number;
  readonly counts: readonly number[];
}

const lowestSchema = -4;
const highestSchema = 8;

/** The native histogram; null if the buckets are wider than any schema of Prometheus. */
export function toNativeHistogram(point: ExponentialPoint): FloatHistogram | null {
  if (point.scale < lowestSchema) return null;
  const schema = Math.min(point.scale, highestSchema);
  const shift = point.scale - schema;
  const positive = toBuckets(point.positive, shift);
  const negative = toBuckets(point.negative, shift);
  return {
    counterResetHint: "unknown",
    schema,
    zeroThreshold: Number.isNaN(point.zeroThreshold) ? 0 : point.zeroThreshold,
    zeroCount: point.zeroCount,
    count: point.count,
    sum: Number.isNaN(point.sum) ? absentSum(point, [positive, negative]) : point.sum,
    positive,
    negative,
    customValues: [],
  };
}

/** The sum is NaN if NaN was observed, which is in no bucket; otherwise none was sent, and Prometheus has 0. */
function absentSum({ count, zeroCount }: ExponentialPoint, buckets: readonly Buckets[]): number {
  const inBuckets = buckets.flatMap(({ counts }) => [...counts]).reduce((sum, each) => sum + each, zeroCount);
  return count > inBuckets ? Number.NaN : 0;
}

/** Buckets by rising index. Those of a finer scale are merged. OTLP indexes a bucket by its lower bound, Prometheus by its upper bound. */
function toBuckets({ counts, offset }: ExponentialBuckets, shift: number): Buckets {
  const joined = new Map<number, number>();
  for (const [position, count] of counts.entries()) {
    if (count === 0) continue;
    const index = Math.floor((offset + position) / 2 ** shift) + 1;
    joined.set(index, (joined.get(index) ?? 0) + count);
  }
  return joined.size === 0 ? noBuckets : { indexes: [...joined.keys()], counts: [...joined.values()] };
}

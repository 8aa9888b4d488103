/** Sums and differences of native histograms whose layouts may differ. */
import { CompensatedSum } from "../series/compensated-sum.ts";
import {
  aboveThreshold,
  addCompensatedBuckets,
  commonBounds,
  mapToBounds,
  reduceResolution,
  uncompensated,
  type CompensatedBuckets,
} from "./bucket-arithmetic.ts";
import { negativeBuckets, positiveBuckets, type Bucket } from "./bucket-bounds.ts";
import {
  compactBuckets,
  divideHistogram,
  equalNumbers,
  multiplyHistogram,
  usesCustomBuckets,
  type Buckets,
  type CounterResetHint,
  type FloatHistogram,
} from "./float-histogram.ts";

/** A histogram and what rounding lost in each of its numbers. */
export interface CompensatedHistogram {
  readonly histogram: FloatHistogram;
  readonly zeroCount: number;
  readonly count: number;
  readonly sum: number;
  readonly positive: readonly number[];
  readonly negative: readonly number[];
}

export interface Addition {
  readonly result: CompensatedHistogram;
  /** One operand has a counter reset, the other has none. */
  readonly resetCollision: boolean;
  /** Custom bounds differed and were reduced to the common ones. */
  readonly boundsReconciled: boolean;
}

export function startSum(histogram: FloatHistogram): CompensatedHistogram {
  return {
    histogram,
    zeroCount: 0,
    count: 0,
    sum: 0,
    positive: histogram.positive.counts.map(() => 0),
    negative: histogram.negative.counts.map(() => 0),
  };
}

/** The sum with the lost digits back in it. */
export function finishSum(total: CompensatedHistogram): FloatHistogram {
  const { histogram } = total;
  const add = (buckets: Buckets, lost: readonly number[]): Buckets => ({
    indexes: buckets.indexes,
    counts: buckets.counts.map((count, position) => count + lost[position]!),
  });
  return {
    ...histogram,
    zeroCount: histogram.zeroCount + total.zeroCount,
    count: histogram.count + total.count,
    sum: histogram.sum + total.sum,
    positive: add(histogram.positive, total.positive),
    negative: add(histogram.negative, total.negative),
  };
}

/** Every number of the sum and of its lost digits, times a factor. */
export function scaleSum(total: CompensatedHistogram, factor: number): CompensatedHistogram {
  return mapSum(total, multiplyHistogram(total.histogram, factor), (lost) => lost * factor);
}

/** Every number of the sum and of its lost digits, divided. */
export function divideSum(total: CompensatedHistogram, divisor: number): CompensatedHistogram {
  return mapSum(total, divideHistogram(total.histogram, divisor), (lost) => lost / divisor);
}

function mapSum(
  total: CompensatedHistogram,
  histogram: FloatHistogram,
  change: (lost: number) => number,
): CompensatedHistogram {
  return {
    histogram,
    zeroCount: change(total.zeroCount),
    count: change(total.count),
    sum: change(total.sum),
    positive: total.positive.map(change),
    negative: total.negative.map(change),
  };
}

/** The sum, or undefined when one histogram has exponential and the other custom buckets. */
export function addToSum(total: CompensatedHistogram, other: FloatHistogram): Addition | undefined {
  if (usesCustomBuckets(total.histogram) !== usesCustomBuckets(other)) return undefined;
  const { hint, collision } = combineHints(total.histogram.counterResetHint, other.counterResetHint);
  const added = usesCustomBuckets(other) ? addCustom(total, other) : addExponential(total, other);
  const count = compensatedAdd(total.histogram.count, total.count, other.count);
  const sum = compensatedAdd(total.histogram.sum, total.sum, other.sum);
  const histogram: FloatHistogram = {
    ...total.histogram,
    ...added.layout,
    counterResetHint: hint,
    zeroCount: added.zero.sum,
    count: count.sum,
    sum: sum.sum,
    positive: { indexes: added.positive.indexes, counts: added.positive.counts },
    negative: { indexes: added.negative.indexes, counts: added.negative.counts },
  };
  const result: CompensatedHistogram = {
    histogram,
    zeroCount: added.zero.compensation,
    count: count.compensation,
    sum: sum.compensation,
    positive: added.positive.compensations,
    negative: added.negative.compensations,
  };
  return { result, resetCollision: collision, boundsReconciled: added.boundsReconciled };
}

function compensatedAdd(sum: number, compensation: number, value: number): CompensatedSum {
  const total = new CompensatedSum(sum, compensation);
  total.add(value);
  return total;
}

interface AddedBuckets {
  readonly layout: Partial<FloatHistogram>;
  readonly zero: CompensatedSum;
  readonly positive: CompensatedBuckets;
  readonly negative: CompensatedBuckets;
  readonly boundsReconciled: boolean;
}

function addCustom(total: CompensatedHistogram, other: FloatHistogram): AddedBuckets {
  const { histogram } = total;
  let left: CompensatedBuckets = { ...histogram.positive, compensations: total.positive };
  let right = uncompensated(other.positive);
  let customValues = histogram.customValues;
  const boundsReconciled = !equalNumbers(histogram.customValues, other.customValues);
  if (boundsReconciled) {
    customValues = commonBounds(histogram.customValues, other.customValues);
    left = mapToBounds(left, histogram.customValues, customValues);
    right = mapToBounds(right, other.customValues, customValues);
  }
  return {
    layout: { customValues },
    zero: new CompensatedSum(),
    positive: addCompensatedBuckets(left, right),
    negative: uncompensated(histogram.negative),
    boundsReconciled,
  };
}

function addExponential(total: CompensatedHistogram, other: FloatHistogram): AddedBuckets {
  const { left, right } = reconcileZeroBuckets(total, other);
  const zero = compensatedAdd(left.histogram.zeroCount, left.zeroCount, right.zeroCount);
  const schema = Math.min(left.histogram.schema, right.schema);
  const { zeroThreshold } = left.histogram;
  const addSide = (side: "positive" | "negative"): CompensatedBuckets =>
    addCompensatedBuckets(
      reduceResolution({ ...left.histogram[side], compensations: left[side] }, left.histogram.schema, schema),
      aboveThreshold(reduceResolution(uncompensated(right[side]), right.schema, schema), schema, zeroThreshold),
    );
  return {
    layout: { schema, zeroThreshold },
    zero,
    positive: addSide("positive"),
    negative: addSide("negative"),
    boundsReconciled: false,
  };
}

/** Widens the narrower zero bucket until both are equal and end at no populated bucket's inside. */
function reconcileZeroBuckets(
  total: CompensatedHistogram,
  other: FloatHistogram,
): { left: CompensatedHistogram; right: FloatHistogram } {
  let left = total;
  let right = other;
  while (left.histogram.zeroThreshold !== right.zeroThreshold) {
    if (left.histogram.zeroThreshold > right.zeroThreshold) {
      right = withZeroBucket(right, widenZeroBucket(right, left.histogram.zeroThreshold));
    } else {
      // Its lost digits go into the counts, since the buckets that have them may vanish.
      const finished = finishSum(left);
      const widened = widenZeroBucket(finished, right.zeroThreshold);
      left = startSum(withoutBucketsInZero(withZeroBucket(finished, widened)));
    }
  }
  return { left, right };
}

type ZeroBucket = Pick<FloatHistogram, "zeroCount" | "zeroThreshold">;

function withZeroBucket(histogram: FloatHistogram, zero: ZeroBucket): FloatHistogram {
  return { ...histogram, ...zero };
}

/** What the zero bucket's count and threshold are when it must reach at least up to `threshold`. */
export function widenZeroBucket(histogram: FloatHistogram, threshold: number): ZeroBucket {
  if (threshold === histogram.zeroThreshold) return { zeroCount: histogram.zeroCount, zeroThreshold: threshold };
  // Distances from zero: positive and negative buckets are treated the same.
  const sides = [
    positiveBuckets(histogram).map(({ lower, upper, count }) => ({ near: lower, far: upper, count })),
    negativeBuckets(histogram).map(({ lower, upper, count }) => ({ near: -upper, far: -lower, count })),
  ];
  let zeroThreshold = threshold;
  for (;;) {
    const reached = sides.flat().filter((bucket) => bucket.near < zeroThreshold);
    const cut = reached.find((bucket) => bucket.far > zeroThreshold && bucket.count !== 0);
    if (cut === undefined) {
      const total = new CompensatedSum(histogram.zeroCount);
      for (const bucket of reached) total.add(bucket.count);
      return { zeroCount: total.total, zeroThreshold };
    }
    zeroThreshold = cut.far;
  }
}

function withoutBucketsInZero(histogram: FloatHistogram): FloatHistogram {
  const clear = (buckets: Buckets, bounds: readonly Bucket[]): Buckets =>
    compactBuckets({
      indexes: buckets.indexes,
      counts: buckets.counts.map((count, position) => {
        const { lower, upper } = bounds[position]!;
        return Math.min(Math.abs(lower), Math.abs(upper)) < histogram.zeroThreshold ? 0 : count;
      }),
    });
  return {
    ...histogram,
    positive: clear(histogram.positive, positiveBuckets(histogram)),
    negative: clear(histogram.negative, negativeBuckets(histogram)),
  };
}

function combineHints(
  left: CounterResetHint,
  right: CounterResetHint,
): { readonly hint: CounterResetHint; readonly collision: boolean } {
  if (left === right) return { hint: left, collision: false };
  if (left === "gauge" || right === "gauge") return { hint: "gauge", collision: false };
  return { hint: "unknown", collision: left !== "unknown" && right !== "unknown" };
}

export interface PlainAddition {
  readonly result: FloatHistogram;
  readonly resetCollision: boolean;
  readonly boundsReconciled: boolean;
}

/** left + right without compensation, or undefined when the kinds of buckets differ. */
export function addHistograms(left: FloatHistogram, right: FloatHistogram): PlainAddition | undefined {
  const addition = addToSum(startSum(left), right);
  return addition === undefined ? undefined : { ...addition, result: addition.result.histogram };
}

/** left - right, with the hints combined as in a sum; undefined when the kinds of buckets differ. */
export function subtractHistograms(left: FloatHistogram, right: FloatHistogram): PlainAddition | undefined {
  const negated = { ...multiplyHistogram(right, -1), counterResetHint: right.counterResetHint };
  return addHistograms(left, negated);
}

/** The histogram at a lower or equal resolution. */
export function toSchema(histogram: FloatHistogram, schema: number): FloatHistogram {
  if (schema === histogram.schema) return histogram;
  const reduce = (buckets: Buckets): Buckets => {
    const { indexes, counts, compensations } = reduceResolution(uncompensated(buckets), histogram.schema, schema);
    return { indexes, counts: counts.map((count, position) => count + compensations[position]!) };
  };
  return {
    ...histogram,
    counterResetHint: "unknown",
    schema,
    positive: reduce(histogram.positive),
    negative: reduce(histogram.negative),
  };
}

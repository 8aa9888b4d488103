/** A histogram as text, as `count_values` labels it and as messages show it. */
import { formatGeneral } from "../syntax/number-literal.ts";
import { negativeBuckets, positiveBuckets, type Bucket } from "./bucket-bounds.ts";
import { usesCustomBuckets, type FloatHistogram } from "./float-histogram.ts";

/** `{count:4, sum:3, [-2,-1):1, (1,2]:3}`: populated buckets in ascending order, brackets where a bound belongs to it. */
export function printHistogram(histogram: FloatHistogram): string {
  const parts = [`count:${formatGeneral(histogram.count)}`, `sum:${formatGeneral(histogram.sum)}`];
  const add = ({ lower, upper, count }: Bucket, [open, close]: readonly [string, string]): void => {
    if (count === 0) return;
    parts.push(`${open}${formatGeneral(lower)},${formatGeneral(upper)}${close}:${formatGeneral(count)}`);
  };
  for (const bucket of negativeBuckets(histogram).reverse()) add(bucket, ["[", ")"]);
  const { zeroCount: count, zeroThreshold } = histogram;
  add({ lower: -zeroThreshold, upper: zeroThreshold, count }, ["[", "]"]);
  for (const bucket of positiveBuckets(histogram)) {
    const includesLower = usesCustomBuckets(histogram) && bucket.lower === -Infinity;
    add(bucket, [includesLower ? "[" : "(", "]"]);
  }
  return `{${parts.join(", ")}}`;
}

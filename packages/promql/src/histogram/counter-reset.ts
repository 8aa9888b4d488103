/** Whether a counter histogram was reset between two samples. */
import { aboveThreshold, commonBounds, mapToBounds, reduceResolution, uncompensated } from "./bucket-arithmetic.ts";
import { equalNumbers, usesCustomBuckets, type Buckets, type FloatHistogram } from "./float-histogram.ts";
import { widenZeroBucket } from "./histogram-arithmetic.ts";

/**
 * True when some count went down, a populated bucket vanished, or the layout changed in a way that only a restart can
 * cause: a finer schema, a narrower zero bucket. Explicit hints of `current` decide at once.
 */
export function isHistogramReset(current: FloatHistogram, previous: FloatHistogram): boolean {
  if (current.counterResetHint === "reset") return true;
  if (current.counterResetHint === "not_reset") return false;
  if (current.count < previous.count) return true;
  if (usesCustomBuckets(current)) {
    if (!usesCustomBuckets(previous)) return true;
    if (!equalNumbers(current.customValues, previous.customValues)) return isResetAtCommonBounds(current, previous);
  }
  if (current.schema > previous.schema || current.zeroThreshold < previous.zeroThreshold) return true;
  const widened = widenZeroBucket(previous, current.zeroThreshold);
  if (widened.zeroThreshold !== current.zeroThreshold || current.zeroCount < widened.zeroCount) return true;
  return (["positive", "negative"] as const).some((side) =>
    someCountFell(comparable(current, side, current), comparable(previous, side, current)),
  );
}

/** One side's buckets in the layout of the current histogram. */
function comparable(histogram: FloatHistogram, side: "positive" | "negative", current: FloatHistogram): Buckets {
  const buckets = uncompensated(histogram[side]);
  if (usesCustomBuckets(histogram)) return buckets;
  const reduced = reduceResolution(buckets, histogram.schema, current.schema);
  return aboveThreshold(reduced, current.schema, current.zeroThreshold);
}

function someCountFell(current: Buckets, previous: Buckets): boolean {
  const counts = new Map(current.indexes.map((index, position) => [index, current.counts[position]!]));
  return previous.indexes.some((index, position) => {
    const before = previous.counts[position]!;
    const now = counts.get(index);
    return now === undefined ? before !== 0 : now < before;
  });
}

function isResetAtCommonBounds(current: FloatHistogram, previous: FloatHistogram): boolean {
  const bounds = commonBounds(current.customValues, previous.customValues);
  const onBounds = (histogram: FloatHistogram): Buckets =>
    mapToBounds(uncompensated(histogram.positive), histogram.customValues, bounds);
  return someCountFell(onBounds(current), onBounds(previous));
}

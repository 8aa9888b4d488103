/** The change of a native histogram over a window, resets considered, without extrapolation. */
import { messages, type HistogramOperation } from "../evaluate/annotations.ts";
import type { HistogramSamples } from "../evaluate/range-series.ts";
import { isHistogramReset } from "../histogram/counter-reset.ts";
import {
  compactHistogram,
  emptyHistogram,
  usesCustomBuckets,
  type FloatHistogram,
} from "../histogram/float-histogram.ts";
import { addHistograms, subtractHistograms, toSchema, type PlainAddition } from "../histogram/histogram-arithmetic.ts";
import type { RangeCall } from "./range-function.ts";
import { isRestart } from "./start-timestamps.ts";

export interface SampleSpan {
  readonly first: number;
  readonly end: number;
}

export interface ChangeOptions {
  readonly call: RangeCall;
  readonly isCounter: boolean;
}

/**
 * The last histogram of at least two less the first, plus what resets lost; undefined, with a warning, where
 * their buckets are incompatible.
 */
export function histogramChange(
  samples: HistogramSamples,
  { first, end }: SampleSpan,
  options: ChangeOptions,
): FloatHistogram | undefined {
  const { call, isCounter } = options;
  const { values } = samples;
  const last = values[end - 1]!;
  const inner = values.slice(first + 1, end - 1);
  let start = values[first]!;
  if (isCounter && isReset(samples, first + 1, start)) {
    // The first sample does not count then, so its layout does not matter.
    const second = values[first + 1]!;
    start = { ...emptyHistogram, schema: second.schema, customValues: second.customValues };
  }
  const isCustom = usesCustomBuckets(start);
  const fits = (value: FloatHistogram): boolean => usesCustomBuckets(value) === isCustom;
  if (!fits(last) || (isCounter && !inner.every(fits))) {
    if (isCounter && !fits(last)) warnOfKind([values[first]!, last], options);
    return warnOfMixedKinds(call);
  }
  const relevant = isCounter ? [last, start, ...inner] : [last, start];
  const schema = relevant.reduce((lowest, value) => Math.min(lowest, value.schema), Infinity);
  let change = annotated(subtractHistograms(toSchema(last, schema), start), "subtraction", call);
  let previous = start;
  for (const [offset, value] of (isCounter ? [...inner, last] : []).entries()) {
    if (change !== undefined && isReset(samples, first + 1 + offset, previous)) {
      change = annotated(addHistograms(change, previous), "addition", call);
    }
    previous = value;
  }
  if (change === undefined) return undefined;
  warnOfKind(isCounter ? [values[first]!, last, ...inner] : [values[first]!, last], options);
  return compactHistogram({ ...change, counterResetHint: "gauge" });
}

function isReset(samples: HistogramSamples, index: number, previous: FloatHistogram): boolean {
  return isRestart(samples.times, samples.starts, index) || isHistogramReset(samples.values[index]!, previous);
}

/** A counter should have no gauge histograms, and anything else only gauge histograms. */
function warnOfKind(values: readonly FloatHistogram[], { call, isCounter }: ChangeOptions): void {
  const isGauge = (value: FloatHistogram): boolean => value.counterResetHint === "gauge";
  if (isCounter && values.some(isGauge)) call.annotations.warn(messages.notCounter(call.metric), call.at);
  if (!isCounter && !values.every(isGauge)) call.annotations.warn(messages.notGauge(call.metric), call.at);
}

function warnOfMixedKinds(call: RangeCall): undefined {
  call.annotations.warn(messages.mixedBucketKinds(call.metric), call.at);
  return undefined;
}

/** The sum or difference, with its annotations. */
export function annotated(
  addition: PlainAddition | undefined,
  operation: HistogramOperation,
  call: RangeCall,
): FloatHistogram | undefined {
  if (addition === undefined) return warnOfMixedKinds(call);
  if (addition.boundsReconciled) call.annotations.inform(messages.mismatchedBounds(operation), call.at);
  return addition.result;
}

export function addWithAnnotations(
  left: FloatHistogram,
  right: FloatHistogram,
  call: RangeCall,
): FloatHistogram | undefined {
  return annotated(addHistograms(left, right), "addition", call);
}

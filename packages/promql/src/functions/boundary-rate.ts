/**
 * rate, increase and delta with `anchored` or `smoothed`: the exact difference between the window's two ends instead
 * of an extrapolation. Anchored takes the last sample at or before an end, smoothed interpolates between neighbors.
 */
import { messages } from "../evaluate/annotations.ts";
import { setFloat, setHistogram } from "../evaluate/grid.ts";
import type { FloatSamples, HistogramSamples, RangeSeries } from "../evaluate/range-series.ts";
import { isHistogramReset } from "../histogram/counter-reset.ts";
import {
  compactHistogram,
  divideHistogram,
  usesCustomBuckets,
  type FloatHistogram,
} from "../histogram/float-histogram.ts";
import { subtractHistograms } from "../histogram/histogram-arithmetic.ts";
import { addWithAnnotations, annotated } from "./histogram-change.ts";
import { decidingSamples, interpolateFloat, interpolateHistogram } from "./interpolate.ts";
import type { RangeCall, Window, WindowKernel } from "./range-function.ts";

export interface RateKind {
  /** A decrease is a counter reset, not a change. */
  readonly isCounter: boolean;
  /** Per second rather than per window. */
  readonly perSecond: boolean;
}

/** The kernel for a selector with one of the modifiers; its windows reach further than their range. */
export function anchoredOrSmoothedRate(series: RangeSeries, call: RangeCall, kind: RateKind): WindowKernel {
  const seconds = call.rangeMs / 1000;
  return (window, out) => {
    if (window.endHistogram > window.firstHistogram) {
      const change = changeOfHistograms(series.histograms, window, { call, kind });
      if (change === undefined) return;
      const value = kind.perSecond ? divideHistogram(change, seconds) : change;
      setHistogram(out, window.step, compactHistogram({ ...value, counterResetHint: "gauge" }));
      return;
    }
    const change = changeOfFloats(series.floats, window, { call, kind });
    if (change !== undefined) setFloat(out, window.step, kind.perSecond ? change / seconds : change);
  };
}

interface Options {
  readonly call: RangeCall;
  readonly kind: RateKind;
}

function changeOfFloats(samples: FloatSamples, window: Window, { call, kind }: Options): number | undefined {
  const smoothed = call.boundary === "smoothed";
  const { times, values } = samples;
  const { startMs, endMs } = window;
  const span = { first: window.firstFloat, end: window.endFloat };
  const deciding = decidingSamples(times, span, { startMs, endMs, smoothed });
  if (deciding === undefined) return undefined;
  let { first, last } = deciding;
  const { isCounter } = kind;
  const left =
    smoothed && times[first]! < startMs ? interpolateFloat(samples, first, startMs, isCounter) : values[first]!;
  const right =
    smoothed && last > span.first && times[last]! > endMs
      ? interpolateFloat(samples, last - 1, endMs, isCounter)
      : values[last]!;
  if (!isCounter) return right - left;
  // The interpolation knows of resets at the ends; those between samples inside remain.
  if (times[first]! <= startMs) first++;
  if (times[last]! >= endMs) last--;
  let lost = 0;
  let previous = left;
  for (let index = first; index <= last; index++) {
    if (values[index]! < previous) lost += previous;
    previous = values[index]!;
  }
  if (right < previous) lost += previous;
  return right - left + lost;
}

function changeOfHistograms(
  samples: HistogramSamples,
  window: Window,
  { call, kind }: Options,
): FloatHistogram | undefined {
  const smoothed = call.boundary === "smoothed";
  const { startMs, endMs } = window;
  const span = { first: window.firstHistogram, end: window.endHistogram };
  const deciding = decidingSamples(samples.times, span, { startMs, endMs, smoothed });
  if (deciding === undefined) return undefined;
  const { first, last } = deciding;
  if (!haveCompatibleBuckets(samples.values.slice(first, last + 1), { call, kind })) return undefined;
  const valueAt = (index: number, timeMs: number): FloatHistogram | undefined => {
    const value = interpolateHistogram(samples, index, {
      timeMs,
      isCounter: kind.isCounter,
      report: (message) => call.annotations.inform(message, call.at),
    });
    return value;
  };
  const left = smoothed && samples.times[first]! < startMs ? valueAt(first, startMs) : samples.values[first]!;
  const right =
    smoothed && last > span.first && samples.times[last]! > endMs ? valueAt(last - 1, endMs) : samples.values[last]!;
  if (left === undefined || right === undefined) return undefined;
  if (!kind.isCounter && (left.counterResetHint !== "gauge" || right.counterResetHint !== "gauge")) {
    call.annotations.warn(messages.notGauge(call.metric), call.at);
  }
  const change = annotated(subtractHistograms(right, left), "subtraction", call);
  if (change === undefined || !kind.isCounter) return change;
  const spansReset =
    smoothed && samples.times[first]! < startMs && isHistogramReset(samples.values[first + 1]!, samples.values[first]!);
  return addLost(change, resetValues(samples.values, { first, last, left, right, spansReset }), call);
}

function haveCompatibleBuckets(values: readonly FloatHistogram[], { call, kind }: Options): boolean {
  const isCustom = usesCustomBuckets(values[0]!);
  if (values.some((value) => usesCustomBuckets(value) !== isCustom)) {
    call.annotations.warn(messages.mixedBucketKinds(call.metric), call.at);
    return false;
  }
  if (kind.isCounter && values.some((value) => value.counterResetHint === "gauge")) {
    call.annotations.warn(messages.notCounter(call.metric), call.at);
  }
  return true;
}

interface ResetSearch {
  readonly first: number;
  readonly last: number;
  readonly left: FloatHistogram;
  readonly right: FloatHistogram;
  /** The left end was interpolated across a reset, which is accounted for already. */
  readonly spansReset: boolean;
}

/** The values that the counter had right before each reset. */
function resetValues(values: readonly FloatHistogram[], search: ResetSearch): FloatHistogram[] {
  const { left, right, spansReset } = search;
  let index = search.first + (spansReset ? 2 : 1);
  if (index > search.last) return [];
  let previous = spansReset ? values[search.first + 1]! : left;
  const lost: FloatHistogram[] = [];
  for (; index < search.last; index++) {
    if (isHistogramReset(values[index]!, previous)) lost.push(previous);
    previous = values[index]!;
  }
  if (isHistogramReset(right, previous)) lost.push(previous);
  return lost;
}

function addLost(change: FloatHistogram, lost: readonly FloatHistogram[], call: RangeCall): FloatHistogram | undefined {
  let total: FloatHistogram | undefined = change;
  for (const value of lost) {
    total = addWithAnnotations(total, value, call);
    if (total === undefined) return undefined;
  }
  return total;
}

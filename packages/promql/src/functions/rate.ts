/**
 * rate, increase and delta: the change over a window, extrapolated to its ends.
 * https://prometheus.io/docs/prometheus/latest/querying/functions/#rate
 */
import { messages } from "../evaluate/annotations.ts";
import { setFloat, setHistogram } from "../evaluate/grid.ts";
import type { FloatSamples, HistogramSamples, RangeSeries } from "../evaluate/range-series.ts";
import type { FloatHistogram } from "../histogram/float-histogram.ts";
import { multiplyHistogram } from "../histogram/float-histogram.ts";
import { anchoredOrSmoothedRate, type RateKind } from "./boundary-rate.ts";
import { addWithAnnotations, histogramChange } from "./histogram-change.ts";
import type { RangeCall, RangeFunction, Window, WindowKernel } from "./range-function.ts";
import { indexesWhere, overlapsPrevious, isRestart } from "./start-timestamps.ts";

/** The function for one kind of rate. */
export function rateFunction(kind: RateKind): RangeFunction {
  return (series, call) => {
    const ofFloats = call.boundary === null ? extrapolatedFloats(series, call, kind) : null;
    const ofHistograms = call.boundary === null ? extrapolatedHistograms(series, call, kind) : null;
    const exact = call.boundary === null ? null : anchoredOrSmoothedRate(series, call, kind);
    return (window, out) => {
      const hasFloats = window.endFloat > window.firstFloat;
      if (hasFloats && window.endHistogram > window.firstHistogram) {
        call.annotations.warn(messages.mixedFloatsHistograms(call.metric), call.at);
        return;
      }
      if (exact !== null) exact(window, out);
      else if (hasFloats) ofFloats!(window, out);
      else ofHistograms!(window, out);
    };
  };
}

/** Which samples in a window are the first after a reset; windows move forwards only. */
function resetsIn(samples: FloatSamples, kind: RateKind): (window: Window) => number {
  const { starts, times, values } = samples;
  if (!kind.isCounter) return () => 0;
  const resets =
    starts === null
      ? fallsIn(values)
      : indexesWhere(values.length, (index) => values[index]! < values[index - 1]! || isRestart(times, starts, index));
  let next = 0;
  return ({ firstFloat, endFloat }) => {
    while (next < resets.length && resets[next]! <= firstFloat) next++;
    let lost = 0;
    for (let index = next; index < resets.length && resets[index]! < endFloat; index++) {
      lost += values[resets[index]! - 1]!;
    }
    return lost;
  };
}

/** A plain loop, because most counters have no other resets, and large queries read millions of values. */
function fallsIn(values: Float64Array): readonly number[] {
  const found: number[] = [];
  for (let index = 1; index < values.length; index++) if (values[index]! < values[index - 1]!) found.push(index);
  return found;
}

/** Warns of overlapping starts inside the windows. */
function overlapCheck(samples: FloatSamples | HistogramSamples, call: RangeCall): (first: number, end: number) => void {
  if (samples.starts === null) return () => undefined;
  const overlaps = indexesWhere(samples.times.length, (index) =>
    overlapsPrevious(samples.times, samples.starts, index),
  );
  if (overlaps.length === 0) return () => undefined;
  return (first, end) => {
    if (overlaps.some((index) => index > first && index < end)) {
      call.annotations.warnCounted(messages.startOverlap(call.metric), call.at);
    }
  };
}

function extrapolatedFloats({ floats }: RangeSeries, call: RangeCall, kind: RateKind): WindowKernel {
  const { starts, times, values } = floats;
  const lostInResets = resetsIn(floats, kind);
  const checkOverlap = overlapCheck(floats, call);
  // One object for all windows of the series.
  const sampled = newSampledRange();
  return (window, out) => {
    const { firstFloat: first, endFloat: end } = window;
    let change = values[end - 1]! - values[first]!;
    if (kind.isCounter) {
      change += lostInResets(window);
      checkOverlap(first, end);
    }
    sampled.hasStart = kind.isCounter && starts !== null && isStartInside(starts[first]!, window, times[first]!);
    if (sampled.hasStart) {
      change += values[first]!;
      sampled.startMs = starts![first]!;
    } else if (end - first === 1) {
      return;
    }
    sampled.firstMs = times[first]!;
    sampled.lastMs = times[end - 1]!;
    sampled.count = end - first;
    // A counter cannot have been below zero: no further back than where its line meets zero.
    sampled.zeroShare = kind.isCounter && change > 0 && values[first]! >= 0 ? values[first]! / change : Infinity;
    setFloat(out, window.step, change * extrapolation(sampled, window, call, kind));
  };
}

function extrapolatedHistograms({ histograms }: RangeSeries, call: RangeCall, kind: RateKind): WindowKernel {
  const { starts, times, values } = histograms;
  const checkOverlap = overlapCheck(histograms, call);
  const sampled = newSampledRange();
  return (window, out) => {
    const { firstHistogram: first, endHistogram: end } = window;
    let change: FloatHistogram | undefined;
    if (end - first > 1) {
      if (kind.isCounter) checkOverlap(first, end);
      change = histogramChange(histograms, { first, end }, { call, isCounter: kind.isCounter });
      if (change === undefined) return;
    }
    const hasStart = kind.isCounter && starts !== null && isStartInside(starts[first]!, window, times[first]!);
    const firstValue = values[first]!;
    const before = change;
    if (hasStart) {
      change = change === undefined ? firstValue : addWithAnnotations(change, firstValue, call);
    }
    if (change === undefined || (before === undefined && !hasStart)) return;
    sampled.hasStart = hasStart;
    if (hasStart) sampled.startMs = starts[first]!;
    sampled.firstMs = times[first]!;
    sampled.lastMs = times[end - 1]!;
    sampled.count = end - first;
    const isAboveZero = kind.isCounter && change.count > 0 && firstValue.count >= 0;
    sampled.zeroShare = isAboveZero ? firstValue.count / change.count : Infinity;
    setHistogram(out, window.step, multiplyHistogram(change, extrapolation(sampled, window, call, kind)));
  };
}

/** A sample's start inside the window counts as a sample of zero; the window's own start is outside of it. */
function isStartInside(startMs: number, window: Window, firstMs: number): boolean {
  return startMs !== 0 && startMs > window.startMs && startMs < firstMs;
}

interface SampledRange {
  firstMs: number;
  lastMs: number;
  count: number;
  /** The window has a start timestamp, at `startMs`. */
  hasStart: boolean;
  startMs: number;
  /** The first value by the change, for counters that could be followed back to zero; else infinite. */
  zeroShare: number;
}

function newSampledRange(): SampledRange {
  return { firstMs: 0, lastMs: 0, count: 0, hasStart: false, startMs: 0, zeroShare: Infinity };
}

/**
 * The factor from the sampled change to the window's: samples are assumed to continue to the window's ends if they come
 * within 1.1 average distances of them, else for half a distance.
 */
function extrapolation(sampled: SampledRange, window: Window, call: RangeCall, kind: RateKind): number {
  let sampledSeconds = (sampled.lastMs - sampled.firstMs) / 1000;
  const average = sampled.count > 1 ? sampledSeconds / (sampled.count - 1) : 0;
  const threshold = average * 1.1;
  let toStart = (sampled.firstMs - window.startMs) / 1000;
  let toEnd = (window.endMs - sampled.lastMs) / 1000;
  if (sampled.hasStart) {
    toStart = 0;
    sampledSeconds = (sampled.lastMs - sampled.startMs) / 1000;
  } else {
    if (toStart >= threshold) toStart = average / 2;
    toStart = Math.min(toStart, sampledSeconds * sampled.zeroShare);
  }
  if (toEnd >= threshold) toEnd = average / 2;
  const factor = sampledSeconds === 0 ? 1 : (sampledSeconds + toStart + toEnd) / sampledSeconds;
  return kind.perSecond ? factor / (call.rangeMs / 1000) : factor;
}

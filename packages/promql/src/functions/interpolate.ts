/** Values between two samples, for the modifiers `anchored` and `smoothed`. */
import { messages } from "../evaluate/annotations.ts";
import { firstAfter, type FloatSamples, type HistogramSamples } from "../evaluate/range-series.ts";
import { isHistogramReset } from "../histogram/counter-reset.ts";
import { multiplyHistogram, type FloatHistogram } from "../histogram/float-histogram.ts";
import { addHistograms, subtractHistograms, type PlainAddition } from "../histogram/histogram-arithmetic.ts";
import type { SampleSpan } from "./histogram-change.ts";

/** The value at a time between two samples; a counter that was reset between them grew from zero. */
export function interpolateFloat(samples: FloatSamples, index: number, timeMs: number, isCounter: boolean): number {
  const to = samples.values[index + 1]!;
  const from = isCounter && to < samples.values[index]! ? 0 : samples.values[index]!;
  const fromMs = samples.times[index]!;
  return from + ((to - from) * (timeMs - fromMs)) / (samples.times[index + 1]! - fromMs);
}

/** The histogram at a time between samples `index` and `index + 1`; undefined if their buckets are incompatible. */
export function interpolateHistogram(
  samples: HistogramSamples,
  index: number,
  { timeMs, isCounter, report }: { timeMs: number; isCounter: boolean; report: (message: string) => void },
): FloatHistogram | undefined {
  const from = samples.values[index]!;
  const to = samples.values[index + 1]!;
  const fromMs = samples.times[index]!;
  const toMs = samples.times[index + 1]!;
  if (timeMs === fromMs) return from;
  if (timeMs === toMs) return to;
  const fraction = (timeMs - fromMs) / (toMs - fromMs);
  if (isCounter && isHistogramReset(to, from)) return multiplyHistogram(to, fraction);
  const difference = subtractHistograms(to, from);
  reportBounds(difference, messages.mismatchedBounds("subtraction"), report);
  if (difference === undefined) return undefined;
  const sum = addHistograms(multiplyHistogram(difference.result, fraction), from);
  reportBounds(sum, messages.mismatchedBounds("addition"), report);
  return sum?.result;
}

function reportBounds(addition: PlainAddition | undefined, message: string, report: (message: string) => void): void {
  if (addition?.boundsReconciled === true) report(message);
}

/**
 * The samples that decide the value at both ends of a range: from the last one at or before its start (or the first
 * inside) to the last inside, or, smoothed, the first at or after its end. Undefined if none is after the start.
 */
export function decidingSamples(
  times: Float64Array,
  span: SampleSpan,
  range: { startMs: number; endMs: number; smoothed: boolean },
): { readonly first: number; readonly last: number } | undefined {
  const firstInside = Math.min(firstAfter(times.subarray(0, span.end), range.startMs, span.first), span.end - 1);
  const first = Math.max(span.first, firstInside - 1);
  let last = span.end - 1;
  if (range.smoothed) {
    const firstAtEnd = firstAfter(times.subarray(0, last), range.endMs, span.first);
    last = firstAtEnd > span.first && times[firstAtEnd - 1] === range.endMs ? firstAtEnd - 1 : firstAtEnd;
  }
  if (times[last]! <= range.startMs) return undefined;
  return range.smoothed && times[first]! > range.endMs ? undefined : { first, last };
}

/** A range selector as the whole of an instant query: the samples themselves. */
import { decidingSamples, interpolateFloat } from "../functions/interpolate.ts";
import type { MatrixSelector } from "../syntax/ast.ts";
import { selectorTime } from "./evaluate-selector.ts";
import type { Grid } from "./grid.ts";
import { durationMs, evaluationError, type QueryContext } from "./query-context.ts";
import { firstAfter, toRangeSeries, type FloatSamples, type RangeSeries } from "./range-series.ts";

/** The samples in the range before the query's time, series without any left out. */
export function matrixOfSelector(
  { range, selector }: MatrixSelector,
  grid: Grid,
  context: QueryContext,
): readonly RangeSeries[] {
  const { fixedMs, offsetMs } = selectorTime(selector, context);
  const endMs = (fixedMs ?? grid.startMs) - offsetMs;
  const startMs = endMs - durationMs(range, context);
  const { boundary } = selector;
  const before = boundary === null ? 0 : context.lookbackMs;
  const after = boundary === "smoothed" ? context.lookbackMs : 0;
  const series = (context.selected.get(selector) ?? [])
    .map((stored) => cut(toRangeSeries(stored), startMs - before, endMs + after))
    .filter(hasSamples);
  if (boundary === null) return series;
  if (series.some(({ histograms }) => histograms.times.length > 0)) {
    throw evaluationError(`${boundary} modifier is not supported with histograms`);
  }
  return series
    .map((one) => ({
      ...one,
      floats: withBoundaries(one.floats, { startMs, endMs, smoothed: boundary === "smoothed" }),
    }))
    .filter(hasSamples);
}

function hasSamples({ floats, histograms }: RangeSeries): boolean {
  return floats.times.length + histograms.times.length > 0;
}

function cut(series: RangeSeries, afterMs: number, untilMs: number): RangeSeries {
  const { floats, histograms } = series;
  const floatSpan = [firstAfter(floats.times, afterMs), firstAfter(floats.times, untilMs)] as const;
  const histogramSpan = [firstAfter(histograms.times, afterMs), firstAfter(histograms.times, untilMs)] as const;
  return {
    ...series,
    floats: {
      times: floats.times.subarray(...floatSpan),
      values: floats.values.subarray(...floatSpan),
      starts: floats.starts?.subarray(...floatSpan) ?? null,
    },
    histograms: {
      times: histograms.times.subarray(...histogramSpan),
      values: histograms.values.slice(...histogramSpan),
      starts: histograms.starts?.subarray(...histogramSpan) ?? null,
    },
  };
}

/** The samples inside the range, with made-up ones exactly at its ends. */
function withBoundaries(
  samples: FloatSamples,
  range: { startMs: number; endMs: number; smoothed: boolean },
): FloatSamples {
  const { endMs, smoothed, startMs } = range;
  const { times, values } = samples;
  const none = { times: new Float64Array(0), values: new Float64Array(0), starts: null };
  const deciding = decidingSamples(times, { first: 0, end: times.length }, range);
  if (deciding === undefined) return none;
  const { first, last } = deciding;
  const left = smoothed && times[first]! < startMs ? interpolateFloat(samples, first, startMs, false) : values[first]!;
  const right =
    smoothed && last > 0 && times[last]! > endMs ? interpolateFloat(samples, last - 1, endMs, false) : values[last]!;
  const from = times[first]! <= startMs ? first + 1 : first;
  const until = times[last]! >= endMs ? last : last + 1;
  return {
    times: Float64Array.of(startMs, ...times.subarray(from, Math.max(from, until)), endMs),
    values: Float64Array.of(left, ...values.subarray(from, Math.max(from, until)), right),
    starts: null,
  };
}

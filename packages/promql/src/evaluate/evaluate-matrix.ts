/** A range selector as the whole of an instant query: the samples themselves. */
import { decidingSamples, interpolateFloat } from "../functions/interpolate.ts";
import type { MatrixSelector } from "../syntax/ast.ts";
import { workOfLabels } from "./budget.ts";
import { selectorTime } from "./evaluate-selector.ts";
import type { Grid } from "./grid.ts";
import { durationMs, evaluationError, type QueryContext } from "./query-context.ts";
import { firstAfter, toRangeSeries, type FloatSamples, type RangeSeries } from "./range-series.ts";

/** The samples in the range before the query's time, without empty series. */
export async function matrixOfSelector(
  { range, selector }: MatrixSelector,
  grid: Grid,
  context: QueryContext,
): Promise<readonly RangeSeries[]> {
  const { budget } = context;
  const { fixedMs, offsetMs } = selectorTime(selector, context);
  const endMs = (fixedMs ?? grid.startMs) - offsetMs;
  const startMs = endMs - durationMs(range, context);
  const { boundary } = selector;
  const before = boundary === null ? 0 : context.lookbackMs;
  const after = boundary === "smoothed" ? context.lookbackMs : 0;
  const found: RangeSeries[] = [];
  for (const stored of context.selected.get(selector) ?? []) {
    const series = cut(toRangeSeries(stored), startMs - before, endMs + after);
    if (budget.spend(stored.timestampsMs.length + workOfLabels)) await budget.yield();
    if (!hasSamples(series)) continue;
    if (boundary === null) {
      found.push(series);
      continue;
    }
    if (series.histograms.times.length > 0) {
      throw evaluationError(`${boundary} modifier is not supported with histograms`);
    }
    const floats = withBoundaries(series.floats, { startMs, endMs, smoothed: boundary === "smoothed" });
    if (floats.times.length > 0) found.push({ ...series, floats });
  }
  return found;
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

function between(first: number, inner: Float64Array, last: number): Float64Array {
  const all = new Float64Array(inner.length + 2);
  all[0] = first;
  all.set(inner, 1);
  all[inner.length + 1] = last;
  return all;
}

/** The samples inside the range, with synthetic ones exactly at its ends. */
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
    times: between(startMs, times.subarray(from, Math.max(from, until)), endMs),
    values: between(left, values.subarray(from, Math.max(from, until)), right),
    starts: null,
  };
}

/** resets and changes: how often a series fell, or became another value, within a window. */
import { setFloat } from "../evaluate/grid.ts";
import { firstAfter, type RangeSeries } from "../evaluate/range-series.ts";
import { isHistogramReset } from "../histogram/counter-reset.ts";
import { equalHistograms } from "../histogram/float-histogram.ts";
import type { RangeFunction, Window } from "./range-function.ts";
import { isRestart } from "./start-timestamps.ts";

/** Where two neighbors are counted, by their later index, when both are floats or both are histograms. */
interface PairTests {
  readonly floats: (index: number) => boolean;
  readonly histograms: (index: number) => boolean;
}

export const resetsFunction: RangeFunction = (series, call) => {
  const { floats, histograms } = series;
  return countPairs(series, call.boundary === "anchored", {
    floats: (index) =>
      floats.values[index]! < floats.values[index - 1]! || isRestart(floats.times, floats.starts, index),
    histograms: (index) =>
      isRestart(histograms.times, histograms.starts, index) ||
      isHistogramReset(histograms.values[index]!, histograms.values[index - 1]!),
  });
};

export const changesFunction: RangeFunction = (series, call) => {
  const floats = series.floats.values;
  const histograms = series.histograms.values;
  return countPairs(series, call.boundary === "anchored", {
    floats: (index) => !sameNumber(floats[index]!, floats[index - 1]!),
    histograms: (index) => !equalHistograms(histograms[index]!, histograms[index - 1]!),
  });
};

function sameNumber(left: number, right: number): boolean {
  return left === right || (Number.isNaN(left) && Number.isNaN(right));
}

function countPairs(series: RangeSeries, isAnchored: boolean, tests: PairTests): ReturnType<RangeFunction> {
  const { floats, histograms } = series;
  // Cumulative counts for each float: a window without histograms needs two look-ups.
  const floatCounts = new Int32Array(floats.values.length);
  for (let index = 1; index < floatCounts.length; index++) {
    floatCounts[index] = floatCounts[index - 1]! + (tests.floats(index) ? 1 : 0);
  }
  return (window, out) => {
    const range = isAnchored ? anchoredRange(series, window) : window;
    if (range === undefined) return;
    const hasHistograms = range.endHistogram > range.firstHistogram;
    if (!hasHistograms) {
      const { firstFloat, endFloat } = range;
      setFloat(out, window.step, endFloat > firstFloat ? floatCounts[endFloat - 1]! - floatCounts[firstFloat]! : 0);
      return;
    }
    let count = 0;
    let float = range.firstFloat;
    let histogram = range.firstHistogram;
    let previous: "float" | "histogram" | undefined;
    while (float < range.endFloat || histogram < range.endHistogram) {
      const isFloat =
        histogram >= range.endHistogram ||
        (float < range.endFloat && floats.times[float]! < histograms.times[histogram]!);
      const current = isFloat ? "float" : "histogram";
      const index = isFloat ? float++ : histogram++;
      if (previous !== undefined) {
        const isCounted = previous !== current || (isFloat ? tests.floats(index) : tests.histograms(index));
        if (isCounted) count++;
      }
      previous = current;
    }
    setFloat(out, window.step, count);
  };
}

type SampleIndexes = Pick<Window, "firstFloat" | "endFloat" | "firstHistogram" | "endHistogram">;

/** From the one newest sample at or before the window's start on; undefined without a sample after it. */
function anchoredRange({ floats, histograms }: RangeSeries, window: Window): SampleIndexes | undefined {
  const { endFloat, endHistogram, startMs } = window;
  const anchorFloat = Math.min(firstAfter(floats.times, startMs, window.firstFloat), endFloat) - 1;
  const anchorHistogram = Math.min(firstAfter(histograms.times, startMs, window.firstHistogram), endHistogram) - 1;
  if (anchorFloat + 1 >= endFloat && anchorHistogram + 1 >= endHistogram) return undefined;
  const hasFloat = anchorFloat >= window.firstFloat;
  const hasHistogram = anchorHistogram >= window.firstHistogram;
  if (!hasFloat && !hasHistogram) return window;
  const isFloat = hasFloat && (!hasHistogram || floats.times[anchorFloat]! >= histograms.times[anchorHistogram]!);
  return {
    firstFloat: isFloat ? anchorFloat : anchorFloat + 1,
    endFloat,
    firstHistogram: isFloat ? anchorHistogram + 1 : anchorHistogram,
    endHistogram,
  };
}

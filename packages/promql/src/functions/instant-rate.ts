/** irate and idelta: the change between the last two samples of a window. */
import { messages } from "../evaluate/annotations.ts";
import { setFloat, setHistogram } from "../evaluate/grid.ts";
import type { RangeSeries } from "../evaluate/range-series.ts";
import { isHistogramReset } from "../histogram/counter-reset.ts";
import { compactHistogram, divideHistogram, type FloatHistogram } from "../histogram/float-histogram.ts";
import { subtractHistograms } from "../histogram/histogram-arithmetic.ts";
import { annotated } from "./histogram-change.ts";
import type { RangeCall, RangeFunction, Window } from "./range-function.ts";
import { isRestart } from "./start-timestamps.ts";

/** The function for irate (a counter's, per second) or idelta. */
export function instantRateFunction(isRate: boolean): RangeFunction {
  return (series, call) => (window, out) => {
    const { endFloat: floatEnd, endHistogram: histogramEnd } = window;
    const floatCount = floatEnd - window.firstFloat;
    const histogramCount = histogramEnd - window.firstHistogram;
    if (floatCount + histogramCount < 2) return;
    if (histogramCount > 0 && floatCount > 0 && isMixedAtEnd(series, window)) {
      call.annotations.warn(messages.mixedFloatsHistograms(call.metric), call.at);
      return;
    }
    const lastFloat = floatCount === 0 ? -Infinity : series.floats.times[floatEnd - 1]!;
    const lastHistogram = histogramCount === 0 ? -Infinity : series.histograms.times[histogramEnd - 1]!;
    if (lastFloat >= lastHistogram) {
      const change = changeOfFloats(series, floatEnd - 1, isRate);
      setFloat(out, window.step, change);
      return;
    }
    const change = changeOfHistograms(series, histogramEnd - 1, { call, isRate });
    if (change !== undefined)
      setHistogram(out, window.step, compactHistogram({ ...change, counterResetHint: "gauge" }));
  };
}

/** Whether one of the last two samples is a float and the other a histogram. */
function isMixedAtEnd({ floats, histograms }: RangeSeries, window: Window): boolean {
  const { endFloat, endHistogram } = window;
  const lastFloat = floats.times[endFloat - 1]!;
  const lastHistogram = histograms.times[endHistogram - 1]!;
  if (lastFloat >= lastHistogram) {
    return endFloat - 2 < window.firstFloat || floats.times[endFloat - 2]! < lastHistogram;
  }
  return endHistogram - 2 < window.firstHistogram || histograms.times[endHistogram - 2]! < lastFloat;
}

function changeOfFloats({ floats }: RangeSeries, last: number, isRate: boolean): number {
  const { starts, times, values } = floats;
  const isReset = isRate && (values[last]! < values[last - 1]! || isRestart(times, starts, last));
  const change = isReset ? values[last]! : values[last]! - values[last - 1]!;
  return isRate ? change / ((times[last]! - times[last - 1]!) / 1000) : change;
}

function changeOfHistograms(
  { histograms }: RangeSeries,
  last: number,
  { call, isRate }: { call: RangeCall; isRate: boolean },
): FloatHistogram | undefined {
  const { starts, times, values } = histograms;
  const current = values[last]!;
  const previous = values[last - 1]!;
  const isGauge = (value: FloatHistogram): boolean => value.counterResetHint === "gauge";
  if (isRate && (isGauge(current) || isGauge(previous))) {
    call.annotations.warn(messages.notCounter(call.metric), call.at);
  }
  if (!isRate && !(isGauge(current) && isGauge(previous))) {
    call.annotations.warn(messages.notGauge(call.metric), call.at);
  }
  const isReset = isRate && (isRestart(times, starts, last) || isHistogramReset(current, previous));
  const change = isReset ? current : annotated(subtractHistograms(current, previous), "subtraction", call);
  if (change === undefined || !isRate) return change;
  return divideHistogram(change, (times[last]! - times[last - 1]!) / 1000);
}

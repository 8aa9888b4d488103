/**
 * The functions `*_over_time` on floats; histograms in the same window are skipped with an info.
 * https://prometheus.io/docs/prometheus/latest/querying/functions/#aggregation_over_time
 */
import { messages } from "../evaluate/annotations.ts";
import { setFloat, setHistogram } from "../evaluate/grid.ts";
import { CompensatedSum } from "../series/compensated-sum.ts";
import { averageHistograms, sumHistograms, type HistogramTotal } from "./histogram-over-time.ts";
import { quantileOf } from "./quantile.ts";
import type { RangeCall, RangeFunction, Window } from "./range-function.ts";

/** A value from the floats of a window, which has at least one. */
type FloatKernel = (values: Float64Array, window: Window, times: Float64Array) => number;

function ofFloats(kernel: FloatKernel): RangeFunction {
  return ({ floats }, call) =>
    (window, out) => {
      if (window.endFloat === window.firstFloat) return;
      informOfHistograms(window, call);
      setFloat(out, window.step, kernel(floats.values, window, floats.times));
    };
}

function informOfHistograms(window: Window, call: RangeCall): void {
  if (window.endHistogram === window.firstHistogram) return;
  call.annotations.inform(messages.histogramIgnoredInRange(call.metric), call.at);
}

/** A function that also knows histograms, but not both kinds in one window. */
function ofEither(kernel: FloatKernel, total: HistogramTotal): RangeFunction {
  return ({ floats, histograms }, call) =>
    (window, out) => {
      const hasFloats = window.endFloat > window.firstFloat;
      const hasHistograms = window.endHistogram > window.firstHistogram;
      if (hasFloats && hasHistograms) {
        call.annotations.warn(messages.mixedFloatsHistograms(call.metric), call.at);
      } else if (hasFloats) {
        setFloat(out, window.step, kernel(floats.values, window, floats.times));
      } else {
        const value = total(histograms.values.slice(window.firstHistogram, window.endHistogram), call);
        if (value !== undefined) setHistogram(out, window.step, value);
      }
    };
}

/** Compensated like `CompensatedSum`, which would be too slow here: these loops read every sample of every window. */
function sum(values: Float64Array, { firstFloat, endFloat }: Window): number {
  let total = 0;
  let compensation = 0;
  for (let index = firstFloat; index < endFloat; index++) {
    const value = values[index]!;
    const next = total + value;
    if (next === Infinity || next === -Infinity) compensation = 0;
    else if (Math.abs(total) >= Math.abs(value)) compensation += total - next + value;
    else compensation += value - next + total;
    total = next;
  }
  return total === Infinity || total === -Infinity ? total : total + compensation;
}

function average(values: Float64Array, window: Window): number {
  const { firstFloat, endFloat } = window;
  let total = values[firstFloat]!;
  let compensation = 0;
  for (let index = firstFloat + 1; index < endFloat; index++) {
    const value = values[index]!;
    const next = total + value;
    if (next === Infinity || next === -Infinity) return averageStepwise(values, window);
    if (Math.abs(total) >= Math.abs(value)) compensation += total - next + value;
    else compensation += value - next + total;
    total = next;
  }
  const count = endFloat - firstFloat;
  return total / count + compensation / count;
}

/** The mean if the sum overflows: from there on, the mean so far is updated value by value. */
function averageStepwise(values: Float64Array, { firstFloat, endFloat }: Window): number {
  let total = new CompensatedSum(values[firstFloat]);
  let isIncremental = false;
  for (let index = firstFloat + 1; index < endFloat; index++) {
    const count = index - firstFloat + 1;
    if (!isIncremental) {
      const next = new CompensatedSum(total.sum, total.compensation);
      next.add(values[index]!);
      if (Math.abs(next.sum) !== Infinity) {
        total = next;
        continue;
      }
      isIncremental = true;
      total = new CompensatedSum(total.sum / (count - 1), total.compensation / (count - 1));
    }
    const share = (count - 1) / count;
    total = new CompensatedSum(share * total.sum, share * total.compensation);
    total.add(values[index]! / count);
  }
  return total.total;
}

function variance(values: Float64Array, { firstFloat, endFloat }: Window): number {
  const mean = new CompensatedSum();
  const squares = new CompensatedSum();
  for (let index = firstFloat; index < endFloat; index++) {
    const value = values[index]!;
    const difference = value - mean.total;
    mean.add(difference / (index - firstFloat + 1));
    squares.add(difference * (value - mean.total));
  }
  return squares.total / (endFloat - firstFloat);
}

/** The index of the sample that wins every comparison; NaN loses every comparison. */
function winner(values: Float64Array, window: Window, wins: (challenger: number, champion: number) => boolean): number {
  let best = window.firstFloat;
  for (let index = best; index < window.endFloat; index++) {
    if (wins(values[index]!, values[best]!) || Number.isNaN(values[best]!)) best = index;
  }
  return best;
}

const greater = (left: number, right: number): boolean => left > right;
const less = (left: number, right: number): boolean => left < right;
const greaterOrEqual = (left: number, right: number): boolean => left >= right;
const lessOrEqual = (left: number, right: number): boolean => left <= right;

/** The median of the distances from the median. */
function medianDeviation(values: Float64Array, { firstFloat, endFloat }: Window): number {
  const window = values.slice(firstFloat, endFloat);
  if (window.some(Number.isNaN)) return Number.NaN;
  const median = quantileOf(0.5, window, window.length);
  const distances = window.map((value) => Math.abs(value - median));
  return quantileOf(0.5, distances, distances.length);
}

const quantileOverTime: RangeFunction = ({ floats }, call) => {
  const quantiles = call.scalars[0]!;
  let scratch = new Float64Array(64);
  return (window, out) => {
    if (window.endFloat === window.firstFloat) return;
    const quantile = quantiles[window.step]!;
    if (!(quantile >= 0 && quantile <= 1)) call.annotations.warn(messages.invalidQuantile(quantile), call.at);
    informOfHistograms(window, call);
    const count = window.endFloat - window.firstFloat;
    if (scratch.length < count) scratch = new Float64Array(count * 2);
    for (let index = 0; index < count; index++) scratch[index] = floats.values[window.firstFloat + index]!;
    setFloat(out, window.step, quantileOf(quantile, scratch, count));
  };
};

const countOverTime: RangeFunction = () => (window, out) => {
  setFloat(out, window.step, window.endFloat - window.firstFloat + window.endHistogram - window.firstHistogram);
};

const presentOverTime: RangeFunction = () => (window, out) => {
  setFloat(out, window.step, 1);
};

/** The oldest or newest sample of the window, of either kind. */
function edge(isFirst: boolean): RangeFunction {
  return ({ floats, histograms }) =>
    (window, out) => {
      const float = isFirst ? window.firstFloat : window.endFloat - 1;
      const histogram = isFirst ? window.firstHistogram : window.endHistogram - 1;
      const hasHistogram = window.endHistogram > window.firstHistogram;
      const hasFloat = window.endFloat > window.firstFloat;
      const isFloatOlder = floats.times[float]! < histograms.times[histogram]!;
      const floatWins = hasFloat && (!hasHistogram || isFloatOlder === isFirst);
      if (floatWins) setFloat(out, window.step, floats.values[float]!);
      else setHistogram(out, window.step, histograms.values[histogram]!);
    };
}

/** The time of the oldest or newest sample, in seconds. */
function timeOfEdge(isFirst: boolean): RangeFunction {
  return ({ floats, histograms }) =>
    (window, out) => {
      const times: number[] = [];
      if (window.endFloat > window.firstFloat) {
        times.push(floats.times[isFirst ? window.firstFloat : window.endFloat - 1]!);
      }
      if (window.endHistogram > window.firstHistogram) {
        times.push(histograms.times[isFirst ? window.firstHistogram : window.endHistogram - 1]!);
      }
      setFloat(out, window.step, (isFirst ? Math.min(...times) : Math.max(...times)) / 1000);
    };
}

/** The functions by name. */
export const overTimeFunctions: Readonly<Record<string, RangeFunction>> = {
  avg_over_time: ofEither(average, averageHistograms),
  count_over_time: countOverTime,
  first_over_time: edge(true),
  last_over_time: edge(false),
  mad_over_time: ofFloats(medianDeviation),
  max_over_time: ofFloats((values, window) => values[winner(values, window, greater)]!),
  min_over_time: ofFloats((values, window) => values[winner(values, window, less)]!),
  present_over_time: presentOverTime,
  // absent_over_time is derived from where samples are present.
  absent_over_time: presentOverTime,
  quantile_over_time: quantileOverTime,
  stddev_over_time: ofFloats((values, window) => Math.sqrt(variance(values, window))),
  stdvar_over_time: ofFloats(variance),
  sum_over_time: ofEither(sum, sumHistograms),
  ts_of_first_over_time: timeOfEdge(true),
  ts_of_last_over_time: timeOfEdge(false),
  ts_of_max_over_time: ofFloats((values, window, times) => times[winner(values, window, greaterOrEqual)]! / 1000),
  ts_of_min_over_time: ofFloats((values, window, times) => times[winner(values, window, lessOrEqual)]! / 1000),
};

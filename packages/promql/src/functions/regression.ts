/** deriv, predict_linear and double_exponential_smoothing. */
import { messages } from "../evaluate/annotations.ts";
import { setFloat } from "../evaluate/grid.ts";
import { evaluationError } from "../evaluate/query-context.ts";
import type { FloatSamples } from "../evaluate/range-series.ts";
import { CompensatedSum } from "../series/compensated-sum.ts";
import type { RangeCall, RangeFunction, Window } from "./range-function.ts";

/** Whether there are two floats to draw a line through; histograms next to floats are skipped with an info. */
function hasTwoFloats(window: Window, call: RangeCall): boolean {
  const count = window.endFloat - window.firstFloat;
  if (count > 0 && window.endHistogram > window.firstHistogram) {
    call.annotations.inform(messages.histogramIgnoredInRange(call.metric), call.at);
  }
  return count >= 2;
}

interface Line {
  /** Per second. */
  readonly slope: number;
  /** The value at the requested time. */
  readonly intercept: number;
}

/** The line of least squares through the window's floats. */
function linearRegression({ times, values }: FloatSamples, window: Window, interceptMs: number): Line {
  const { firstFloat: first, endFloat: end } = window;
  const sumX = new CompensatedSum();
  const sumY = new CompensatedSum();
  const sumXY = new CompensatedSum();
  const sumX2 = new CompensatedSum();
  const firstValue = values[first]!;
  let isConstant = true;
  for (let index = first; index < end; index++) {
    const y = values[index]!;
    if (index > first && y !== firstValue) isConstant = false;
    const x = (times[index]! - interceptMs) / 1000;
    sumX.add(x);
    sumY.add(y);
    sumXY.add(x * y);
    sumX2.add(x * x);
  }
  if (isConstant) {
    const isInfinite = Math.abs(firstValue) === Infinity;
    return isInfinite ? { slope: Number.NaN, intercept: Number.NaN } : { slope: 0, intercept: firstValue };
  }
  const count = end - first;
  const covariance = sumXY.total - (sumX.total * sumY.total) / count;
  const variance = sumX2.total - (sumX.total * sumX.total) / count;
  const slope = covariance / variance;
  return { slope, intercept: sumY.total / count - (slope * sumX.total) / count };
}

const deriv: RangeFunction =
  ({ floats }, call) =>
  (window, out) => {
    if (!hasTwoFloats(window, call)) return;
    // Times near the samples keep the numbers small and so the result accurate.
    setFloat(out, window.step, linearRegression(floats, window, floats.times[window.firstFloat]!).slope);
  };

const predictLinear: RangeFunction = ({ floats }, call) => {
  const seconds = call.scalars[0]!;
  return (window, out) => {
    if (!hasTwoFloats(window, call)) return;
    const { intercept, slope } = linearRegression(floats, window, window.timeMs);
    setFloat(out, window.step, slope * seconds[window.step]! + intercept);
  };
};

/** https://en.wikipedia.org/wiki/Exponential_smoothing#Double_exponential_smoothing */
const doubleExponentialSmoothing: RangeFunction = ({ floats }, call) => {
  const [smoothingFactors, trendFactors] = call.scalars as [Float64Array, Float64Array];
  return (window, out) => {
    const smoothing = smoothingFactors[window.step]!;
    const trendFactor = trendFactors[window.step]!;
    checkFactor(smoothing, "smoothing", "sf");
    checkFactor(trendFactor, "trend", "tf");
    if (!hasTwoFloats(window, call)) return;
    const { firstFloat: first, endFloat: end } = window;
    const { values } = floats;
    let before = 0;
    let level = values[first]!;
    let trend = values[first + 1]! - values[first]!;
    for (let index = first + 1; index < end; index++) {
      if (index > first + 1) trend = trendFactor * (level - before) + (1 - trendFactor) * trend;
      const next = smoothing * values[index]! + (1 - smoothing) * (level + trend);
      before = level;
      level = next;
    }
    setFloat(out, window.step, level);
  };
};

function checkFactor(factor: number, name: string, short: string): void {
  if (!(factor <= 0 || factor >= 1)) return;
  throw evaluationError(`invalid ${name} factor. Expected: 0 < ${short} < 1, got: ${factor.toFixed(6)}`);
}

/** The functions by name. */
export const regressionFunctions: Readonly<Record<string, RangeFunction>> = {
  deriv,
  predict_linear: predictLinear,
  double_exponential_smoothing: doubleExponentialSmoothing,
};

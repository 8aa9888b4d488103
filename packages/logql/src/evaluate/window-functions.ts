/**
 * The functions over windows, as partial results that can be merged: a few numbers for any number of samples.
 * https://grafana.com/docs/loki/latest/query/metric_queries/
 */
import type { RangeOperator } from "../syntax/ast.ts";

/** Partial results are stretches of one array; `at` is where a stretch starts. */
export interface WindowFunction {
  /** The numbers of a partial result. */
  readonly width: number;
  /** The partial result of one sample. Times are in nanoseconds after the end of the first window. */
  start(states: Float64Array, at: number, value: number, timeNano: number): void;
  /** Adds a later sample. */
  add(states: Float64Array, at: number, value: number, timeNano: number): void;
  /** Adds another partial result, of later samples. */
  merge(states: Float64Array, into: number, from: number): void;
  result(states: Float64Array, at: number, windowEndNano: number): number;
}

/** Functions that keep one number. */
function single(
  options: {
    readonly first?: (value: number) => number;
    readonly result?: (state: number) => number;
    readonly merge?: (left: number, right: number) => number;
  },
  combine: (state: number, value: number) => number,
): WindowFunction {
  const { first = (value) => value, merge = combine, result = (state) => state } = options;
  return {
    width: 1,
    start(states, at, value) {
      states[at] = first(value);
    },
    add(states, at, value) {
      states[at] = combine(states[at]!, value);
    },
    merge(states, into, from) {
      states[into] = merge(states[into]!, states[from]!);
    },
    result: (states, at) => result(states[at]!),
  };
}

const plus = (left: number, right: number): number => left + right;

function count(divisor: number): WindowFunction {
  return single({ first: () => 1, merge: plus, result: (state) => state / divisor }, (state) => state + 1);
}

function sum(divisor: number): WindowFunction {
  return single({ result: (state) => state / divisor }, plus);
}

/** A NaN gives way to anything. */
function extreme(wins: (challenger: number, champion: number) => boolean): WindowFunction {
  return single({}, (state, value) => (wins(value, state) || Number.isNaN(state) ? value : state));
}

/** The number of samples and their mean; finite samples do not change an infinite mean. */
const mean: WindowFunction = {
  width: 2,
  start(states, at, value) {
    states[at] = 1;
    states[at + 1] = value;
  },
  add(states, at, value) {
    states[at]!++;
    states[at + 1] = meanOf(states[at + 1]!, value, { of: 1, all: states[at]! });
  },
  merge(states, into, from) {
    states[into]! += states[from]!;
    states[into + 1] = meanOf(states[into + 1]!, states[from + 1]!, { of: states[from]!, all: states[into]! });
  },
  result: (states, at) => states[at + 1]!,
};

/** The mean of all samples, where the known ones had one mean and the other ones, `of` all, have another. */
function meanOf(known: number, other: number, { all, of }: { readonly of: number; readonly all: number }): number {
  if (Math.abs(known) === Infinity) return Number.isNaN(other) || other === -known ? Number.NaN : known;
  return known + ((other * of) / all - (known * of) / all);
}

/** Welford's algorithm: the number of samples, their mean, and the sum of squared differences from it. */
function variance(finish: (value: number) => number): WindowFunction {
  return {
    width: 3,
    start(states, at, value) {
      states[at] = 1;
      states[at + 1] = value;
      states[at + 2] = Number.isFinite(value) ? 0 : Number.NaN;
    },
    add(states, at, value) {
      states[at]!++;
      const difference = value - states[at + 1]!;
      states[at + 1]! += difference / states[at]!;
      states[at + 2]! += difference * (value - states[at + 1]!);
    },
    merge(states, into, from) {
      const ours = states[into]!;
      const theirs = states[from]!;
      const difference = states[from + 1]! - states[into + 1]!;
      states[into] = ours + theirs;
      states[into + 1]! += (difference * theirs) / (ours + theirs);
      states[into + 2]! += states[from + 2]! + (difference * difference * ours * theirs) / (ours + theirs);
    },
    result: (states, at) => finish(states[at + 2]! / states[at]!),
  };
}

const [counted, firstTime, firstValue, lastTime, lastValue, lost] = [0, 1, 2, 3, 4, 5];

/** The increase of a counter per second, extrapolated to the ends of the window as Prometheus does. */
function counterRate(rangeNano: number): WindowFunction {
  return {
    width: 6,
    start(states, at, value, timeNano) {
      states[at + counted] = 1;
      states[at + firstTime] = timeNano;
      states[at + firstValue] = value;
      states[at + lastTime] = timeNano;
      states[at + lastValue] = value;
      states[at + lost] = 0;
    },
    add(states, at, value, timeNano) {
      states[at + counted]!++;
      if (value < states[at + lastValue]!) states[at + lost]! += states[at + lastValue]!;
      states[at + lastTime] = timeNano;
      states[at + lastValue] = value;
    },
    merge(states, into, from) {
      states[into + counted]! += states[from + counted]!;
      if (states[from + firstValue]! < states[into + lastValue]!) states[into + lost]! += states[into + lastValue]!;
      states[into + lost]! += states[from + lost]!;
      states[into + lastTime] = states[from + lastTime]!;
      states[into + lastValue] = states[from + lastValue]!;
    },
    result: (states, at, windowEndNano) => extrapolatedRate(states.subarray(at, at + 6), rangeNano, windowEndNano),
  };
}

function extrapolatedRate(state: Float64Array, rangeNano: number, windowEndNano: number): number {
  const samples = state[counted]!;
  if (samples < 2) return 0;
  const increase = state[lastValue]! - state[firstValue]! + state[lost]!;
  const sampled = (state[lastTime]! - state[firstTime]!) / 1e9;
  const between = sampled / (samples - 1);
  const threshold = between * 1.1;
  let toStart = (state[firstTime]! - (windowEndNano - rangeNano)) / 1e9;
  let toEnd = (windowEndNano - state[lastTime]!) / 1e9;
  if (toStart >= threshold) toStart = between / 2;
  // A counter is not negative: the series began when it was zero, if that is nearer than the window's start.
  if (increase > 0 && state[firstValue]! >= 0) toStart = Math.min(toStart, sampled * (state[firstValue]! / increase));
  if (toEnd >= threshold) toEnd = between / 2;
  return (increase * ((sampled + toStart + toEnd) / sampled)) / (rangeNano / 1e9);
}

/** The function of an operator; null for those that need all samples. `hasValues`: of an unwrapped label. */
export function windowFunction(
  operator: RangeOperator,
  { hasValues, rangeNano }: { readonly hasValues: boolean; readonly rangeNano: number },
): WindowFunction | null {
  const seconds = rangeNano / 1e9;
  switch (operator) {
    case "rate":
      return hasValues ? sum(seconds) : count(seconds);
    case "rate_counter":
      return counterRate(rangeNano);
    case "count_over_time":
    case "absent_over_time":
      return count(1);
    case "bytes_rate":
      return sum(seconds);
    case "bytes_over_time":
    case "sum_over_time":
      return sum(1);
    case "avg_over_time":
      return mean;
    case "min_over_time":
      return extreme((left, right) => left < right);
    case "max_over_time":
      return extreme((left, right) => left > right);
    case "first_over_time":
      return single({}, (state) => state);
    case "last_over_time":
      return single({}, (_, value) => value);
    case "stddev_over_time":
      return variance(Math.sqrt);
    case "stdvar_over_time":
      return variance((value) => value);
    case "quantile_over_time":
      return null;
  }
}

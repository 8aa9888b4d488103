/** A series as range functions see it: floats and histograms separate, without stale markers. */
import type { FloatHistogram } from "../histogram/float-histogram.ts";
import type { Labels } from "../series/labels.ts";
import { isStaleMarker, type StoredSeries } from "../storage.ts";
import { float, histogram, histogramAt, timeAt, type Column, type Grid } from "./grid.ts";

export interface FloatSamples {
  readonly times: Float64Array;
  readonly values: Float64Array;
  /** 0 where unknown; null when no sample has a start. */
  readonly starts: Float64Array | null;
}

export interface HistogramSamples {
  readonly times: Float64Array;
  readonly values: readonly FloatHistogram[];
  readonly starts: Float64Array | null;
}

export interface RangeSeries {
  readonly labels: Labels;
  readonly dropName: boolean;
  readonly floats: FloatSamples;
  readonly histograms: HistogramSamples;
}

const noFloats: FloatSamples = { times: new Float64Array(0), values: new Float64Array(0), starts: null };
const noHistograms: HistogramSamples = { times: new Float64Array(0), values: [], starts: null };

/** A stored series without its stale markers. */
export function toRangeSeries(stored: StoredSeries): RangeSeries {
  const { labels, startTimestampsMs, timestampsMs, values } = stored;
  if (stored.histograms === undefined && !hasStaleMarker(values)) {
    const floats = { times: timestampsMs, values, starts: startTimestampsMs ?? null };
    return { labels, dropName: false, floats, histograms: noHistograms };
  }
  const floatIndexes: number[] = [];
  const histogramIndexes: number[] = [];
  for (let index = 0; index < values.length; index++) {
    if ((stored.histograms?.[index] ?? null) !== null) histogramIndexes.push(index);
    else if (!isStaleMarker(values, index)) floatIndexes.push(index);
  }
  const pick = (from: Float64Array, indexes: readonly number[]): Float64Array =>
    Float64Array.from(indexes, (index) => from[index]!);
  const starts = (indexes: readonly number[]): Float64Array | null =>
    startTimestampsMs === undefined ? null : pick(startTimestampsMs, indexes);
  return {
    labels,
    dropName: false,
    floats: {
      times: pick(timestampsMs, floatIndexes),
      values: pick(values, floatIndexes),
      starts: starts(floatIndexes),
    },
    histograms: {
      times: pick(timestampsMs, histogramIndexes),
      values: histogramIndexes.map((index) => stored.histograms![index]!),
      starts: starts(histogramIndexes),
    },
  };
}

function hasStaleMarker(values: Float64Array): boolean {
  for (let index = 0; index < values.length; index++) {
    // A number differs from itself only if it is NaN, which markers are. Nearly all samples are numbers.
    const value = values[index]!;
    if (value !== value && isStaleMarker(values, index)) return true;
  }
  return false;
}

/**
 * The result of a subquery as a series. Hints about counter resets are dropped, because the subquery may have skipped
 * or repeated samples.
 */
export function columnToRangeSeries(column: Column, grid: Grid): RangeSeries {
  const floats = stepsOf(column, float);
  const histogramSteps = column.histograms === null ? new Uint32Array(0) : stepsOf(column, histogram);
  return {
    labels: column.labels,
    dropName: column.dropName,
    floats:
      floats.length === 0
        ? noFloats
        : { times: timesAt(grid, floats), values: valuesAt(column.values, floats), starts: null },
    histograms:
      histogramSteps.length === 0
        ? noHistograms
        : {
            times: timesAt(grid, histogramSteps),
            values: Array.from(histogramSteps, (step) => withoutResetHint(histogramAt(column, step))),
            starts: null,
          },
  };
}

function stepsOf({ kinds }: Column, kind: number): Uint32Array {
  const steps = new Uint32Array(kinds.length);
  let count = 0;
  for (let step = 0; step < kinds.length; step++) {
    if (kinds[step] === kind) steps[count++] = step;
  }
  return steps.subarray(0, count);
}

// Plain loops: a subquery has up to hundreds of thousands of steps, and the loops do not yield.

function timesAt(grid: Grid, steps: Uint32Array): Float64Array {
  const times = new Float64Array(steps.length);
  for (let index = 0; index < steps.length; index++) times[index] = timeAt(grid, steps[index]!);
  return times;
}

function valuesAt(values: Float64Array, steps: Uint32Array): Float64Array {
  if (steps.length === values.length) return values;
  const picked = new Float64Array(steps.length);
  for (let index = 0; index < steps.length; index++) picked[index] = values[steps[index]!]!;
  return picked;
}

function withoutResetHint(value: FloatHistogram): FloatHistogram {
  const isHint = value.counterResetHint === "reset" || value.counterResetHint === "not_reset";
  return isHint ? { ...value, counterResetHint: "unknown" } : value;
}

/** The first index whose time is later than `timeMs`. */
export function firstAfter(times: Float64Array, timeMs: number, from = 0): number {
  let low = from;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! > timeMs) high = middle;
    else low = middle + 1;
  }
  return low;
}

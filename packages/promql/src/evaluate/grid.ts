/** The steps of an evaluation, and the columns of values on them. */
import type { FloatHistogram } from "../histogram/float-histogram.ts";
import type { Labels } from "../series/labels.ts";

/** Equally spaced times; an instant query has one. */
export interface Grid {
  readonly startMs: number;
  readonly stepMs: number;
  readonly count: number;
}

/** The steps from start to end, both included where they are steps. */
export function gridOf(startMs: number, endMs: number, stepMs: number): Grid {
  const count = endMs < startMs ? 0 : Math.floor((endMs - startMs) / stepMs) + 1;
  return { startMs, stepMs, count };
}

export function timeAt(grid: Grid, step: number): number {
  return grid.startMs + step * grid.stepMs;
}

/** The times of all steps. */
export function timesOf(grid: Grid): Float64Array {
  const times = new Float64Array(grid.count);
  for (let step = 0; step < times.length; step++) times[step] = timeAt(grid, step);
  return times;
}

/** The sample at a step. */
export const absent = 0;
export const float = 1;
export const histogram = 2;

/** One series on a grid. */
export interface Column {
  readonly labels: Labels;
  /** The name is to be removed at the end: it does not fit the values any more (delayed name removal). */
  readonly dropName: boolean;
  /** `absent`, `float` or `histogram` for each step. */
  readonly kinds: Uint8Array;
  readonly values: Float64Array;
  /** null while the series has no histogram. */
  histograms: (FloatHistogram | undefined)[] | null;
}

export function newColumn(labels: Labels, dropName: boolean, count: number): Column {
  return { labels, dropName, kinds: new Uint8Array(count), values: new Float64Array(count), histograms: null };
}

export function setFloat(column: Column, step: number, value: number): void {
  column.kinds[step] = float;
  column.values[step] = value;
}

export function setHistogram(column: Column, step: number, value: FloatHistogram): void {
  column.kinds[step] = histogram;
  column.histograms ??= Array.from<FloatHistogram | undefined>({ length: column.kinds.length });
  column.histograms[step] = value;
}

/** The histogram at a step of that kind. */
export function histogramAt(column: Column, step: number): FloatHistogram {
  return column.histograms![step]!;
}

/** Copies the sample at a step, if there is one. */
export function copyStep(from: Column, to: Column, step: number): void {
  const kind = from.kinds[step];
  if (kind === float) setFloat(to, step, from.values[step]!);
  else if (kind === histogram) setHistogram(to, step, histogramAt(from, step));
}

export function isEmpty(column: Column): boolean {
  return !column.kinds.includes(float) && !column.kinds.includes(histogram);
}

/** The same values under other labels. */
export function relabelled(column: Column, labels: Labels, dropName: boolean): Column {
  return { ...column, labels, dropName };
}

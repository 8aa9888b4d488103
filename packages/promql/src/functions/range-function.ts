/** A function over a range of samples: created once per series, then called for each window. */
import type { Annotations } from "../evaluate/annotations.ts";
import type { Column } from "../evaluate/grid.ts";
import type { RangeSeries } from "../evaluate/range-series.ts";
import type { SourceRange } from "../syntax/source-range.ts";

/** The samples of one step; the same object is used for every step. */
export interface Window {
  step: number;
  /** The step's time. */
  timeMs: number;
  /** The window's open start and closed end, offset and `@` applied. */
  startMs: number;
  endMs: number;
  /** Indexes into the series' floats: from the first up to but without the end. */
  firstFloat: number;
  endFloat: number;
  firstHistogram: number;
  endHistogram: number;
}

/** The call around the windows. */
export interface RangeCall {
  readonly annotations: Annotations;
  /** Where annotations point to. */
  readonly at: SourceRange;
  /** The series' metric name, for annotations. */
  readonly metric: string;
  /** The other arguments, one value for each step. */
  readonly scalars: readonly Float64Array[];
  readonly rangeMs: number;
  readonly boundary: "anchored" | "smoothed" | null;
}

/** Sets the window's value in the column, if it has one. */
export type WindowKernel = (window: Window, out: Column) => void;

export type RangeFunction = (series: RangeSeries, call: RangeCall) => WindowKernel;

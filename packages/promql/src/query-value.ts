/** The values that a query can have, as its caller gets them. */
import type { FloatHistogram } from "./histogram/float-histogram.ts";
import type { Labels } from "./series/labels.ts";

/** A sample of an instant vector: `value` applies if `histogram` is null. */
export interface VectorSample {
  readonly labels: Labels;
  readonly value: number;
  readonly histogram: FloatHistogram | null;
}

/** A series of a matrix: its floats and its histograms, each with times in Unix milliseconds. */
export interface MatrixSeries {
  readonly labels: Labels;
  readonly timestampsMs: Float64Array;
  readonly values: Float64Array;
  readonly histogramTimestampsMs: Float64Array;
  readonly histograms: readonly FloatHistogram[];
}

export type QueryValue =
  | { readonly type: "scalar"; readonly value: number }
  | { readonly type: "string"; readonly value: string }
  | { readonly type: "vector"; readonly samples: readonly VectorSample[] }
  /** Sorted by labels. */
  | { readonly type: "matrix"; readonly series: readonly MatrixSeries[] };

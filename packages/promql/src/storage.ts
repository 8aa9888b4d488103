/**
 * What the engine needs from a store. The engine knows no tenants: a storage is created for one tenant, and no
 * query text can reach past it.
 */
import type { YieldBudget } from "./regex/yield-budget.ts";
import type { FloatHistogram } from "./histogram/float-histogram.ts";
import type { Labels } from "./series/labels.ts";
import type { LabelMatcher } from "./syntax/ast.ts";

/** The samples that a selector needs. */
export interface SelectRequest {
  readonly matchers: readonly LabelMatcher[];
  /** Unix milliseconds, both ends included. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly hints: SelectHints;
  readonly signal: AbortSignal;
  /** For work on many series: when to yield to other requests. */
  readonly yieldBudget: YieldBudget;
  /** Charges an answer's bytes before they are kept; throws if they are too many. */
  readonly charge: (bytes: number) => void;
}

/** What the samples are for. A store may use it to read less, never to return something else. */
export interface SelectHints {
  /** The distance of the evaluation's steps; 0 for a single one. */
  readonly stepMs: number;
  /** The length of the selector's window; 0 for an instant selector. */
  readonly rangeMs: number;
  /** The function or aggregation right around the selector, if any. */
  readonly function: string | null;
  readonly grouping: { readonly labels: readonly string[]; readonly without: boolean } | null;
  /** More series or samples than these end the query with an error, so a store can stop there. */
  readonly maxSeries: number;
  readonly maxSamples: number;
}

/** One series as columns of equal length, sorted by strictly rising time. */
export interface StoredSeries {
  readonly labels: Labels;
  /** Unix milliseconds. */
  readonly timestampsMs: Float64Array;
  /** If a sample is a histogram, its value is ignored. A stale marker means that the series ended here. */
  readonly values: Float64Array;
  /** Since when a cumulative value has been counting, in Unix milliseconds; 0 where it is unknown. */
  readonly startTimestampsMs?: Float64Array | undefined;
  /** The native histogram of each sample, null for floats. */
  readonly histograms?: readonly (FloatHistogram | null)[] | undefined;
}

export interface PromqlStorage {
  /** The series that all matchers match and that have samples in the time range; in any order, each once. */
  select(request: SelectRequest): Promise<readonly StoredSeries[]>;
  /**
   * Optional: answers `sum by (…) (rate(selector[window]))` and `increase`, `min by (…) (min_over_time(…))` and the same of
   * `max` itself, or null if it cannot do so exactly.
   */
  aggregateWindows?(request: WindowsRequest): Promise<readonly GridSeries[] | null>;
  /** Optional: reduces such answers to one number for each step, without labels; or null if it cannot do so exactly. */
  reduceWindows?(request: ReductionRequest): Promise<GridSeries | null>;
}

/**
 * `count(sum by (…) (increase(selector[window])) > 0)`, and
 * `avg(max by (…) (max_over_time(selector[window])) - min by (…) (min_over_time(selector[window])))`.
 */
export type ReductionRequest =
  | { readonly kind: "count_positive"; readonly windows: WindowsRequest }
  | { readonly kind: "average_difference"; readonly windows: WindowsRequest; readonly subtracted: WindowsRequest };

/** A function over windows; within a group, its results are summed, or reduced to their minimum or maximum. */
export type WindowFunction = "rate" | "increase" | "min_over_time" | "max_over_time";

export interface WindowsRequest extends SelectRequest {
  readonly function: WindowFunction;
  readonly windowMs: number;
  /** The end of each window, `count` of them; a window is open at its start and closed at its end. */
  readonly windowEndMs: { readonly first: number; readonly stepMs: number; readonly count: number };
  readonly groupBy: { readonly labels: readonly string[]; readonly without: boolean };
}

/** Values at the steps of a query. NaN is a value, so `present` has 1 for each step that has one, else 0. */
export interface GridSeries {
  readonly labels: Labels;
  readonly values: Float64Array;
  readonly present: Uint8Array;
}

const littleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
const lowWord = littleEndian ? 0 : 1;
const staleHighWord = 0x7ff00000;
const quietBit = 0x80000;

/** Whether a sample marks the end of its series: a NaN with the bits 0x7ff0000000000002. */
export function isStaleMarker(values: Float64Array, index: number): boolean {
  if (!Number.isNaN(values[index]!)) return false;
  const words = new Uint32Array(values.buffer, values.byteOffset + index * 8, 2);
  // A copy through a register may have set the NaN's quiet bit.
  return words[lowWord] === 2 && (words[1 - lowWord]! & ~quietBit) === staleHighWord;
}

/** Turns a sample into the marker that its series ended. */
export function markStale(values: Float64Array, index: number): void {
  const words = new Uint32Array(values.buffer, values.byteOffset + index * 8, 2);
  words[lowWord] = 2;
  words[1 - lowWord] = staleHighWord;
}

/** Defines exemplars: single observations of a series, with the trace that each was made in. */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { Labels } from "@sounding/promql/series/labels";
import type { LabelMatcher } from "@sounding/promql/syntax/ast";

export interface Exemplar {
  readonly timeMs: number;
  readonly value: number;
  /** `trace_id` and `span_id`, if known, and attributes that the series does not have. */
  readonly labels: Labels;
}

export interface ExemplarSeries {
  readonly labels: Labels;
  readonly exemplars: readonly Exemplar[];
}

export interface ExemplarRequest {
  readonly matchers: readonly LabelMatcher[];
  readonly fromMs: number;
  readonly toMs: number;
  readonly signal: AbortSignal;
  readonly yieldBudget: YieldBudget;
  readonly charge: (bytes: number) => void;
  readonly maxSeries: number;
}

/** A range is divided into as many intervals, each of which has its own exemplars: a chart has a point every ten pixels. */
const intervals = 100;
/** Series with exemplars in one interval: those with failed calls first, then those with the highest values. */
export const seriesPerInterval = 20;

/** Milliseconds. */
export function intervalOf({ fromMs, toMs }: Pick<ExemplarRequest, "fromMs" | "toMs">): number {
  return Math.max(1, Math.ceil((toMs - fromMs + 1) / intervals));
}

/** What turns the spans of a query into series. */
import type { Budget } from "@sounding/promql/evaluate/budget";
import type { TraceView } from "../spans/trace-view.ts";
import type { SpanGridSeries } from "../storage.ts";
import type { ExemplarChooser } from "./exemplars.ts";
import type { Intervals } from "./intervals.ts";
import type { Series } from "./series.ts";

export interface SpanObserver {
  observe(view: TraceView, index: number, interval: number): void;
  result(): Promise<readonly Series[]>;
}

/** One that can also begin with what a store has aggregated. */
export interface GridObserver extends SpanObserver {
  /** For averages, `spans` counts the spans of the sums. */
  addGrid(series: readonly SpanGridSeries[], spans?: readonly SpanGridSeries[]): Promise<void>;
  /** Without counting the span. */
  observeExemplar(view: TraceView, index: number): void;
}

export interface ObserverContext {
  readonly intervals: Intervals;
  readonly budget: Budget;
  readonly exemplars: ExemplarChooser;
}

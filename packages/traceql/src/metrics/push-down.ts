/** Lets the store aggregate where it gives the same numbers: functions of spans that are selected one by one. */
import { nowhere } from "@sounding/promql/syntax/source-range";
import type { Budget } from "@sounding/promql/evaluate/budget";
import type { SpanGridRequest, SpanGridSeries, TraceqlStorage } from "../storage.ts";
import type { FieldExpression, MetricsAggregate, PipelineStage } from "../syntax/ast.ts";
import { timeRange, type Intervals } from "./intervals.ts";
import { isSpanDuration } from "./measure.ts";

export interface PushedDown {
  readonly series: readonly SpanGridSeries[];
  /** For averages: the number of spans in each sum. */
  readonly spans: readonly SpanGridSeries[];
  /** What each of the spans fulfils; null: nothing. */
  readonly condition: FieldExpression | null;
}

interface PushDownOptions {
  readonly stages: readonly PipelineStage[];
  readonly aggregate: MetricsAggregate;
  readonly intervals: Intervals;
  readonly budget: Budget;
}

/** Null if the store cannot aggregate the query, or not exactly. */
export async function pushDown(storage: TraceqlStorage, options: PushDownOptions): Promise<PushedDown | null> {
  const { aggregate, budget, intervals, stages } = options;
  if (storage.spanGrid === undefined || !stages.every(selectsSingleSpans)) return null;
  const { by, field, operator } = aggregate;
  // Other fields may be missing or no numbers, and then a span does not count.
  if (operator === "avg_over_time" && !isSpanDuration(field)) return null;
  const condition = conditionOf(stages);
  const request: SpanGridRequest = {
    ...timeRange(intervals),
    condition,
    measure: measures[operator],
    field,
    by,
    intervals: {
      firstUnixNano: intervals.startUnixNano + 1n,
      stepNano: intervals.stepNano,
      count: intervals.count,
    },
    maxSeries: budget.limits.maxSeries,
    signal: budget.signal,
    yieldBudget: budget,
    charge: (bytes) => budget.holdBytes(bytes),
  };
  const series = await storage.spanGrid(request);
  if (series === null) return null;
  if (operator !== "avg_over_time") return { series, spans: [], condition };
  const spans = await storage.spanGrid({ ...request, measure: "count", field: null });
  return spans === null ? null : { series, spans, condition };
}

const measures: Readonly<Record<MetricsAggregate["operator"], SpanGridRequest["measure"]>> = {
  rate: "count",
  count_over_time: "count",
  min_over_time: "min",
  max_over_time: "max",
  sum_over_time: "sum",
  avg_over_time: "sum",
  quantile_over_time: "histogram",
  histogram_over_time: "histogram",
};

/** Grouping and `select()` change nothing about which spans there are. */
function selectsSingleSpans({ kind }: PipelineStage): boolean {
  return kind === "spanset-filter" || kind === "group-by" || kind === "coalesce" || kind === "select";
}

function conditionOf(stages: readonly PipelineStage[]): FieldExpression | null {
  const conditions = stages.flatMap((stage) =>
    stage.kind === "spanset-filter" && stage.condition !== null ? [stage.condition] : [],
  );
  return conditions.reduce<FieldExpression | null>(
    (left, right) => (left === null ? right : { kind: "field-operation", operator: "&&", left, right, at: nowhere }),
    null,
  );
}

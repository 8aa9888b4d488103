/**
 * Range aggregations that a store computes: counts of entries and bytes, if the pipeline consists of conditions on the line
 * and on the labels that the store has.
 */
import type { Column } from "@sounding/promql/evaluate/grid";
import { workOfLabels } from "@sounding/promql/evaluate/budget";
import type { CountsRequest, CountSeries } from "../storage.ts";
import { conditionsOf } from "./entry-needs.ts";
import type { EvaluationContext } from "./evaluation-context.ts";
import { checkSeriesCount } from "./limits.ts";
import type { RangePlan } from "./range-aggregation.ts";
import { nanosPerMilli, timeRangeOf, toNanos, type TimeGrid } from "./time-grid.ts";

type Measure = CountsRequest["measure"];

const measures: Readonly<Partial<Record<string, Measure>>> = {
  count_over_time: "entries",
  rate: "entries",
  bytes_over_time: "bytes",
  bytes_rate: "bytes",
};

/** The store's answer; null if it gave none, or cannot be asked. */
export async function evaluatePushedDown(
  { aggregation, grouping }: RangePlan,
  grid: TimeGrid,
  { budget, limits, signal, storage }: EvaluationContext,
): Promise<readonly Column[] | null> {
  const { offsetMs, operator, query, rangeMs, unwrap } = aggregation;
  const measure = measures[operator];
  const { areComplete, lineFilters, metadataMatchers } = conditionsOf(query.stages);
  if (storage.counts === undefined || measure === undefined || unwrap !== null || !areComplete) return null;
  if (grid.startUnixNano % nanosPerMilli !== 0n || grid.stepNano % nanosPerMilli !== 0n) return null;
  const rangeNano = toNanos(rangeMs);
  const offsetNano = toNanos(offsetMs);
  // The store's windows end at whole milliseconds.
  if (offsetNano % nanosPerMilli !== 0n) return null;
  budget.check();
  let charged = 0;
  const answer = await storage.counts({
    matchers: query.matchers,
    lineFilters,
    metadataMatchers,
    ...timeRangeOf({ grid, rangeNano, offsetNano }),
    measure,
    windowEndMs: {
      first: Number(grid.startUnixNano / nanosPerMilli) - offsetMs,
      stepMs: Number(grid.stepNano / nanosPerMilli),
      count: grid.count,
    },
    windowMs: rangeMs,
    groupBy: grouping,
    maximumSeries: limits.maxSeries,
    signal,
    yieldBudget: budget,
    charge: (bytes) => {
      budget.holdBytes(bytes);
      charged += bytes;
    },
  });
  budget.releaseBytes(charged);
  budget.check();
  if (answer === null) return null;
  checkSeriesCount(answer.length, limits);
  budget.holdSamples(answer.length * grid.count);
  const divisor = operator === "rate" || operator === "bytes_rate" ? rangeMs / 1000 : 1;
  const columns: Column[] = [];
  for (const series of answer) {
    columns.push(toColumn(series, divisor));
    if (budget.spend(workOfLabels + grid.count)) await budget.yield();
  }
  return columns;
}

/** A step's kind is `absent` or `float`, which are the marks of `present`. */
function toColumn({ labels, present, values }: CountSeries, divisor: number): Column {
  const scaled = divisor === 1 ? values : values.map((value) => value / divisor);
  return { labels, dropName: false, kinds: present, values: scaled, histograms: null };
}

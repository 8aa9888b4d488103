/**
 * TraceQL metrics: evaluates a query at the steps of a range, or once. Intervals, labels and numbers are Tempo's;
 * docs/observability/traceql.md lists the differences.
 */
import { QueryError } from "@sounding/promql/query-error";
import { inputLimit } from "@sounding/promql/input-limit";
import { Budget } from "@sounding/promql/evaluate/budget";
import { sortInSlices } from "@sounding/promql/evaluate/sort-in-slices";
import type { QueryOptions } from "../engine.ts";
import { defaultTraceqlLimits } from "../limits.ts";
import type { ReadStatistics } from "../read-traces.ts";
import type { NamedValue } from "../spans/spanset.ts";
import type { TraceqlStorage } from "../storage.ts";
import type { Hint, MetricsExpression, MetricsQuery, TraceqlQuery } from "../syntax/ast.ts";
import { printMetrics } from "../syntax/print.ts";
import { evaluateSingle, type MetricsContext, type SingleQuery } from "./evaluate-metrics.ts";
import { instantInterval, intervalOf, rangeIntervals, timestampMs, type Intervals } from "./intervals.ts";
import { joinSeries } from "./join-series.ts";
import { applySecondStages } from "./second-stage.ts";
import { compareForResult, type Series, type SeriesSet } from "./series.ts";

/** Exemplars of an answer, and how many there are unless the request or a hint says otherwise. */
const maximumExemplars = inputLimit({
  area: "TraceQL",
  bounds: "Exemplars of a metrics query",
  value: 100,
  error: { instead: "fewer exemplars" },
});

export interface InstantMetricsQuery extends QueryOptions {
  readonly query: TraceqlQuery;
  /** Nanoseconds since 1970: spans that start after the start, up to the end. */
  readonly startUnixNano: bigint;
  readonly endUnixNano: bigint;
}

export interface RangeMetricsQuery extends InstantMetricsQuery {
  readonly stepNano: bigint;
  /** How many exemplars; 0 or undefined: the default. The hint `exemplars` takes precedence. */
  readonly exemplars?: number | undefined;
}

export interface MetricsExemplar {
  readonly labels: readonly NamedValue[];
  readonly value: number;
  readonly timestampMs: number;
}

export interface MetricsSeries {
  /** Values are strings, ints, floats and booleans. */
  readonly labels: readonly NamedValue[];
  readonly timestampsMs: Float64Array;
  readonly values: Float64Array;
  readonly exemplars: readonly MetricsExemplar[];
}

export interface InstantSeries {
  readonly labels: readonly NamedValue[];
  readonly value: number;
}

export interface RangeMetricsResult {
  readonly series: readonly MetricsSeries[];
  readonly statistics: ReadStatistics;
}

export interface InstantMetricsResult {
  readonly series: readonly InstantSeries[];
  readonly statistics: ReadStatistics;
}

/** Evaluates a query at each step of a range. Errors: `invalid_request`, `timeout`, `client_closed`, or what the store throws. */
export async function queryTraceqlRange(
  storage: TraceqlStorage,
  query: RangeMetricsQuery,
): Promise<RangeMetricsResult> {
  const root = metricsQuery(query.query);
  const intervals = rangeIntervals(query.startUnixNano, query.endUnixNano, query.stepNano);
  const exemplars = exemplarsOf(root.hints, query.exemplars);
  const { budget, series, statistics } = await evaluate(storage, query, { root, intervals, exemplars });
  const timesMs = Float64Array.from({ length: intervals.count }, (_, index) => timestampMs(intervals, index));
  const answer: MetricsSeries[] = [];
  for (const each of series) {
    if (budget.spend(3 * intervals.count)) await budget.yield();
    answer.push(toRangeSeries(each, intervals, timesMs));
  }
  return { series: answer, statistics };
}

/** Evaluates a query once, for all of the time together. Errors as of `queryTraceqlRange`. */
export async function queryTraceqlInstant(
  storage: TraceqlStorage,
  query: InstantMetricsQuery,
): Promise<InstantMetricsResult> {
  const root = metricsQuery(query.query);
  const intervals = instantInterval(query.startUnixNano, query.endUnixNano);
  const { budget, series, statistics } = await evaluate(storage, query, { root, intervals, exemplars: 0 });
  const answer: InstantSeries[] = [];
  for (const { labels, values } of series) {
    if (budget.spend(1)) await budget.yield();
    answer.push({ labels, value: values[0]! });
  }
  return { series: answer, statistics };
}

function metricsQuery(query: TraceqlQuery): MetricsQuery {
  if (query.kind === "metrics-root") return query;
  throw new QueryError("invalid_request", "not a metrics query: end it with a function such as rate()", { param: "q" });
}

function exemplarsOf(hints: readonly Hint[], requested = 0): number {
  const hint = hints.find(({ name }) => name === "exemplars")?.value;
  if (hint?.type === "int") return Math.min(Math.max(Number(hint.value), 0), maximumExemplars);
  if (hint?.type === "boolean" && !hint.value) return 0;
  return requested > 0 ? Math.min(requested, maximumExemplars) : maximumExemplars;
}

interface Evaluation {
  readonly root: MetricsQuery;
  readonly intervals: Intervals;
  readonly exemplars: number;
}

async function evaluate(
  storage: TraceqlStorage,
  options: QueryOptions,
  { exemplars, intervals, root }: Evaluation,
): Promise<{ readonly series: readonly Series[]; readonly statistics: ReadStatistics; readonly budget: Budget }> {
  const { memory, signal = new AbortController().signal, yielder } = options;
  const limits = { ...defaultTraceqlLimits, ...options.limits };
  const budget = new Budget(limits, signal, { memory, yielder });
  let statistics: ReadStatistics = { inspectedTraces: 0, inspectedSpans: 0, inspectedBytes: 0 };
  const addStatistics = (read: ReadStatistics): void => {
    statistics = {
      inspectedTraces: statistics.inspectedTraces + read.inspectedTraces,
      inspectedSpans: statistics.inspectedSpans + read.inspectedSpans,
      inspectedBytes: statistics.inspectedBytes + read.inspectedBytes,
    };
  };
  const singles = distinctSingles(root.expression);
  const share = exemplars === 0 ? 0 : Math.max(1, Math.floor(exemplars / singles.size));
  const context: MetricsContext = { storage, intervals, budget, limits, exemplars: share, addStatistics };
  const answers = new Map<string, SeriesSet>();
  for (const [key, single] of singles) answers.set(key, await evaluateSingle(single, context));
  const found = await combine(root.expression, answers, budget);
  const series = await withValues(found, budget);
  budget.check();
  return { series: await sortInSlices(series, compareForResult, budget), statistics, budget };
}

/** The series that have a value at any time. */
async function withValues(found: SeriesSet, budget: Budget): Promise<readonly Series[]> {
  const series: Series[] = [];
  for (const each of found.values()) {
    if (budget.spend(each.values.length)) await budget.yield();
    if (each.values.some((value) => !Number.isNaN(value))) series.push(each);
  }
  return series;
}

/** Equal queries are evaluated once. */
function distinctSingles(expression: MetricsExpression): ReadonlyMap<string, SingleQuery> {
  const found = new Map<string, SingleQuery>();
  const waiting = [expression];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next.kind === "metrics-operation") waiting.push(next.right, next.left);
    else found.set(keyOf(next), next);
  }
  return found;
}

function keyOf(query: SingleQuery): string {
  return printMetrics({ ...query, secondStages: [] });
}

async function combine(
  expression: MetricsExpression,
  answers: ReadonlyMap<string, SeriesSet>,
  budget: Budget,
): Promise<SeriesSet> {
  if (expression.kind === "metrics-query") {
    return applySecondStages(answers.get(keyOf(expression))!, expression.secondStages, budget);
  }
  const left = await combine(expression.left, answers, budget);
  const right = await combine(expression.right, answers, budget);
  return applySecondStages(await joinSeries(expression.operator, left, right, budget), expression.secondStages, budget);
}

function toRangeSeries(
  { exemplars, labels, values }: Series,
  intervals: Intervals,
  timesMs: Float64Array,
): MetricsSeries {
  const isPresent = (_: number, index: number): boolean => !Number.isNaN(values[index]!);
  const isFull = values.every((value) => !Number.isNaN(value));
  return {
    labels,
    timestampsMs: isFull ? timesMs : timesMs.filter(isPresent),
    values: isFull ? values : values.filter(isPresent),
    exemplars: exemplars.flatMap(({ unixNano, value, ...exemplar }) => {
      const inSeries = values[intervalOf(intervals, unixNano)]!;
      if (Number.isNaN(inSeries)) return [];
      const shown = Number.isNaN(value) ? inSeries : value;
      return [{ ...exemplar, value: shown, timestampMs: Number(unixNano / 1_000_000n) }];
    }),
  };
}

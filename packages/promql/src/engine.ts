/**
 * The PromQL engine: evaluates a query's text or tree as Prometheus does. It follows Prometheus 3: left-open ranges, a
 * lookback of five minutes, stale markers, start timestamps, delayed name removal. docs/observability/promql.md lists the differences.
 * docs/adr/0025-promql-and-metrics.md
 */
import { QueryError } from "./query-error.ts";
import { Annotations } from "./evaluate/annotations.ts";
import {
  Budget,
  defaultLimits,
  workOfLabels,
  type QueryLimits,
  type QueryMemory,
  type Yielder,
} from "./evaluate/budget.ts";
import { evaluate } from "./evaluate/evaluate.ts";
import { absent, float, gridOf, histogram, histogramAt, timesOf, type Column, type Grid } from "./evaluate/grid.ts";
import { removeNames } from "./evaluate/merge-columns.ts";
import { evaluatePushedDown } from "./evaluate/push-down.ts";
import { evaluationError, type QueryContext, type Value } from "./evaluate/query-context.ts";
import type { RangeSeries } from "./evaluate/range-series.ts";
import { checkResultSize } from "./evaluate/result-size.ts";
import { selectAll } from "./evaluate/select-series.ts";
import { sortInSlices } from "./evaluate/sort-in-slices.ts";
import { stepInvariance } from "./evaluate/step-invariance.ts";
import type { MatrixSeries, QueryValue, VectorSample } from "./query-value.ts";
import { compareLabels, dropLabels, emptyLabels, metadataLabels } from "./series/labels.ts";
import type { PromqlStorage } from "./storage.ts";
import type { Expression } from "./syntax/ast.ts";
import { checkTypes, documentedType, typeOf } from "./syntax/check.ts";
import { parseQuery } from "./syntax/parse-query.ts";
import { printExpression } from "./syntax/print.ts";

export interface QueryOptions {
  /** Text, or a tree; positions in messages about a tree refer to its printed form. */
  readonly query: string | Expression;
  readonly signal?: AbortSignal | undefined;
  readonly limits?: Partial<QueryLimits> | undefined;
  /** How far an instant selector looks back; 5 minutes. */
  readonly lookbackMs?: number | undefined;
  /** The step of subqueries that name none; 1 minute. */
  readonly defaultSubqueryStepMs?: number | undefined;
  /** The request's memory: samples and results are charged before they are created, and the result stays charged. */
  readonly memory?: QueryMemory | undefined;
  /** Shares the thread with other requests; by default, with the rest of the event loop. */
  readonly yielder?: Yielder | undefined;
  /** Called at the end, also of a failed query, with the number of samples read and computed. */
  readonly onSamples?: ((samples: number) => void) | undefined;
}

export interface InstantQuery extends QueryOptions {
  /** Unix milliseconds. */
  readonly timeMs: number;
}

export interface RangeQuery extends QueryOptions {
  readonly startMs: number;
  /** Included if it is a step. */
  readonly endMs: number;
  readonly stepMs: number;
}

export interface QueryResult {
  readonly value: QueryValue;
  readonly warnings: readonly string[];
  readonly infos: readonly string[];
  /** Samples that were read from the store or computed on the way to the result. */
  readonly samplesRead: number;
}

/** Evaluates a query at a single time. Errors: `invalid_request`, `timeout`, `client_closed`, or what the store throws. */
export function queryInstant(storage: PromqlStorage, query: InstantQuery): Promise<QueryResult> {
  return withBudget(query, async (budget) => {
    checkTime(query.timeMs, "time");
    const grid: Grid = { startMs: query.timeMs, stepMs: 1, count: 1 };
    const { expression, text } = await parsed(query.query, budget);
    return run(storage, query, { expression, text, grid, endMs: query.timeMs, stepMs: 0, budget });
  });
}

async function withBudget(
  { limits, memory, yielder, onSamples, signal = new AbortController().signal }: QueryOptions,
  serve: (budget: Budget) => Promise<QueryResult>,
): Promise<QueryResult> {
  const budget = new Budget({ ...defaultLimits, ...limits }, signal, { memory, yielder });
  try {
    return await serve(budget);
  } finally {
    onSamples?.(budget.samplesRead);
  }
}

/** Evaluates a query at each step of a range; the result is a matrix. Errors as of `queryInstant`. */
export function queryRange(storage: PromqlStorage, query: RangeQuery): Promise<QueryResult> {
  return withBudget(query, (budget) => evaluateRange(storage, query, budget));
}

async function evaluateRange(storage: PromqlStorage, query: RangeQuery, budget: Budget): Promise<QueryResult> {
  const { endMs, startMs, stepMs } = query;
  checkTime(startMs, "start");
  checkTime(endMs, "end");
  if (!(stepMs > 0)) throw invalid("step", "zero or negative query resolution step widths are not accepted");
  if (endMs < startMs) throw invalid("end", "end timestamp must not be before start time");
  const { expression, text } = await parsed(query.query, budget);
  const type = typeOf(expression);
  if (type !== "vector" && type !== "scalar") {
    const seen = documentedType(type);
    throw invalid("query", `invalid expression type "${seen}" for range query, must be Scalar or instant Vector`);
  }
  const grid = gridOf(startMs, endMs, stepMs);
  const { maxPointsPerSeries } = budget.limits;
  // As in Prometheus, the range divided by the step, which is one less than the points.
  if (grid.count - 1 > maxPointsPerSeries) {
    const limit = maxPointsPerSeries.toLocaleString("en-US");
    throw invalid(
      "step",
      `exceeded maximum resolution of ${limit} points per timeseries. ` +
        "Try decreasing the query resolution (?step=XX)",
    );
  }
  return run(storage, query, { expression, text, grid, endMs, stepMs, budget });
}

function invalid(param: string, problem: string): QueryError {
  return new QueryError("invalid_request", problem, { param });
}

function checkTime(ms: number, name: string): void {
  if (!Number.isSafeInteger(ms)) throw invalid(name, `"${name}" must be a whole number of milliseconds, got ${ms}`);
}

async function parsed(
  query: string | Expression,
  budget: Budget,
): Promise<{ readonly expression: Expression; readonly text: string }> {
  if (typeof query === "string") return { expression: await parseQuery(query, budget), text: query };
  const text = printExpression(query);
  checkTypes(query, text);
  return { expression: query, text };
}

interface Run {
  readonly expression: Expression;
  readonly text: string;
  readonly grid: Grid;
  readonly endMs: number;
  readonly stepMs: number;
  readonly budget: Budget;
}

async function run(
  storage: PromqlStorage,
  options: QueryOptions,
  { budget, endMs, expression, grid, stepMs, text }: Run,
): Promise<QueryResult> {
  const annotations = new Annotations();
  const shared = {
    storage,
    budget,
    lookbackMs: options.lookbackMs ?? 300_000,
    defaultSubqueryStepMs: options.defaultSubqueryStepMs ?? 60_000,
    startMs: grid.startMs,
    endMs,
    stepMs,
    isStepInvariant: stepInvariance(),
  };
  const answered = await evaluatePushedDown(expression, { ...shared, grid });
  const selected = await selectAll(expression, shared, answered);
  const context: QueryContext = { ...shared, annotations, answered, selected };
  const computed = await evaluate(expression, grid, context);
  budget.check();
  const value = await (stepMs === 0 ? instantValue(computed, budget) : rangeValue(computed, grid, budget));
  await checkResultSize(value, budget);
  return {
    value,
    warnings: annotations.texts("warning", text),
    infos: annotations.texts("info", text),
    samplesRead: budget.samplesRead,
  };
}

async function instantValue(value: Value, budget: Budget): Promise<QueryValue> {
  switch (value.type) {
    case "string":
      return value;
    case "scalar":
      return { type: "scalar", value: value.values[0]! };
    case "vector":
      return { type: "vector", samples: await mapped(await removeNames(value.columns, budget), toSample, budget) };
    case "matrix":
      return { type: "matrix", series: await sortSeries(await mapped(value.series, toMatrixSeries, budget), budget) };
  }
}

async function mapped<Item, Result>(
  items: readonly Item[],
  convert: (item: Item) => Result,
  budget: Budget,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) {
    results.push(convert(item));
    if (budget.spend(workOfLabels)) await budget.yield();
  }
  return results;
}

function toSample(column: Column): VectorSample {
  const isFloat = column.kinds[0] === float;
  return {
    labels: column.labels,
    value: isFloat ? column.values[0]! : 0,
    histogram: isFloat ? null : histogramAt(column, 0),
  };
}

function toMatrixSeries({ dropName, floats, histograms, labels }: RangeSeries): MatrixSeries {
  return {
    labels: dropName ? dropLabels(labels, metadataLabels) : labels,
    timestampsMs: floats.times,
    values: floats.values,
    histogramTimestampsMs: histograms.times,
    histograms: histograms.values,
  };
}

function sortSeries(series: readonly MatrixSeries[], budget: Budget): Promise<readonly MatrixSeries[]> {
  return sortInSlices(series, (left, right) => compareLabels(left.labels, right.labels), budget);
}

async function rangeValue(value: Value, grid: Grid, budget: Budget): Promise<QueryValue> {
  const timestampsMs = timesOf(grid);
  if (value.type === "scalar") {
    const none = { histogramTimestampsMs: new Float64Array(0), histograms: [] };
    return { type: "matrix", series: [{ labels: emptyLabels, timestampsMs, values: value.values, ...none }] };
  }
  if (value.type !== "vector") throw evaluationError("a range query must have a scalar or an instant vector");
  const series: MatrixSeries[] = [];
  for (const column of await removeNames(value.columns, budget)) {
    budget.holdSamples(column.kinds.includes(absent) ? grid.count : 0);
    series.push(fromColumn(column, timestampsMs));
    if (budget.spend(grid.count)) await budget.yield();
  }
  return { type: "matrix", series: await sortSeries(series, budget) };
}

function fromColumn(column: Column, timestampsMs: Float64Array): MatrixSeries {
  const { kinds, labels, values } = column;
  const isFloat = (_: unknown, step: number): boolean => kinds[step] === float;
  const isHistogram = (_: unknown, step: number): boolean => kinds[step] === histogram;
  const isFull = !kinds.includes(absent) && column.histograms === null;
  return {
    labels,
    timestampsMs: isFull ? timestampsMs : timestampsMs.filter(isFloat),
    values: isFull ? values : values.filter(isFloat),
    histogramTimestampsMs: column.histograms === null ? new Float64Array(0) : timestampsMs.filter(isHistogram),
    histograms: (column.histograms ?? []).filter((value) => value !== undefined),
  };
}

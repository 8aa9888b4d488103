/**
 * The LogQL engine: evaluates a query's text or tree as Loki 3 does. docs/observability/logql.md lists the differences.
 * docs/adr/0024-logql-traceql-and-searches.md
 */
import { Budget, type QueryMemory, type Yielder } from "@sounding/promql/evaluate/budget";
import { evaluateLogQuery } from "./evaluate/log-query.ts";
import { ReadCounter, type EvaluationContext } from "./evaluate/evaluation-context.ts";
import { defaultLimits, queryError, type LogqlLimits } from "./evaluate/limits.ts";
import { evaluateMetric, type MetricValue } from "./evaluate/metric-query.ts";
import { matrixOf, usesApproximation, usesSort, vectorOf } from "./evaluate/metric-result.ts";
import { evaluateRanges } from "./evaluate/range-results.ts";
import { alignedStepsOf, nanosPerMilli, stepsOf, toNanos, type TimeGrid } from "./evaluate/time-grid.ts";
import type { LogqlResult, LogqlValue, QueryStatistics } from "./query-result.ts";
import type { LogqlStorage } from "./storage.ts";
import { isLogQuery, type LogqlExpression, type LogQuery, type MetricExpression } from "./syntax/ast.ts";
import { parseLogqlQuery } from "./syntax/parse-query.ts";

export interface LogqlQueryOptions {
  /** Text, or a tree. */
  readonly query: string | LogqlExpression;
  readonly signal?: AbortSignal | undefined;
  readonly limits?: Partial<LogqlLimits> | undefined;
  /** The request's memory: entries, samples and results are charged before they are created, and the result stays charged. */
  readonly memory?: QueryMemory | undefined;
  /** Shares the thread with other requests; by default, with the rest of the event loop. */
  readonly yielder?: Yielder | undefined;
  /** Called at the end, also of a failed query. */
  readonly onStatistics?: ((statistics: QueryStatistics) => void) | undefined;
}

export interface LogqlInstantQuery extends LogqlQueryOptions {
  readonly timeUnixNano: bigint;
}

export interface LogqlRangeQuery extends LogqlQueryOptions {
  readonly startUnixNano: bigint;
  /** Of metric queries, included if it is a step; of log queries, excluded. */
  readonly endUnixNano: bigint;
  /** Of metric queries. */
  readonly stepMs: number;
  /** Of metric queries: the range is extended to multiples of the step, as by Loki's query frontend; true by default. */
  readonly alignsSteps?: boolean | undefined;
  /** Of log queries: the shortest time between two entries of the result; 0, the default: any. */
  readonly intervalMs?: number | undefined;
  /** Of log queries; by default `backward`: the newest first. */
  readonly direction?: "forward" | "backward" | undefined;
  /** Of log queries: how many entries the result has at most; 100 by default. */
  readonly limit?: number | undefined;
  /** Of log queries: streams have only the labels of the store. */
  readonly categorizesLabels?: boolean | undefined;
}

const defaultEntries = 100;

/** Evaluates a metric query at a single time. Errors: `invalid_request`, `timeout`, `client_closed`, or what the store throws. */
export function queryLogqlInstant(storage: LogqlStorage, query: LogqlInstantQuery): Promise<LogqlResult> {
  return serve(storage, query, async (expression, context) => {
    if (isLogQuery(expression)) {
      throw queryError(
        "log queries are not supported as an instant query type, please change your query to a range query type",
      );
    }
    const grid: TimeGrid = { startUnixNano: query.timeUnixNano, stepNano: nanosPerMilli, count: 1 };
    const value = await evaluateAt(expression, grid, context);
    return value.type === "scalar" ? value : vectorOf(value.columns, usesSort(expression), context.budget);
  });
}

/** Evaluates a log query over a range, or a metric query at each step of a range. Errors as of `queryLogqlInstant`. */
export function queryLogqlRange(storage: LogqlStorage, query: LogqlRangeQuery): Promise<LogqlResult> {
  return serve(storage, query, (expression, context) =>
    isLogQuery(expression) ? selectEntries(expression, query, context) : evaluateSteps(expression, query, context),
  );
}

async function serve(
  storage: LogqlStorage,
  options: LogqlQueryOptions,
  evaluate: (expression: LogqlExpression, context: EvaluationContext) => Promise<LogqlValue>,
): Promise<LogqlResult> {
  const startMs = performance.now();
  const { memory, onStatistics, query, signal = new AbortController().signal, yielder } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const budget = new Budget(limits, signal, { memory, yielder });
  const read = new ReadCounter(limits);
  let entriesReturned = 0;
  const statistics = (): QueryStatistics => ({
    entriesRead: read.entries,
    bytesRead: read.bytes,
    entriesReturned,
    durationMs: performance.now() - startMs,
  });
  try {
    const expression = typeof query === "string" ? await parseLogqlQuery(query, budget) : query;
    const value = await evaluate(expression, { storage, budget, limits, read, signal });
    entriesReturned = sizeOf(value);
    return { value, statistics: statistics() };
  } catch (error) {
    // A cancelled store fails in its own words.
    if (signal.aborted) budget.check();
    throw error;
  } finally {
    onStatistics?.(statistics());
  }
}

function sizeOf(value: LogqlValue): number {
  switch (value.type) {
    case "streams":
      return value.streams.reduce((sum, { entries }) => sum + entries.length, 0);
    case "vector":
      return value.samples.length;
    case "matrix":
      return value.series.reduce((sum, { values }) => sum + values.length, 0);
    case "scalar":
      return 1;
  }
}

async function selectEntries(
  expression: LogQuery,
  query: LogqlRangeQuery,
  context: EvaluationContext,
): Promise<LogqlValue> {
  const { direction = "backward", endUnixNano, intervalMs = 0, limit = defaultEntries, startUnixNano } = query;
  const { maxEntriesReturned } = context.limits;
  if (limit > maxEntriesReturned) {
    throw queryError(
      "max entries limit per query exceeded, limit > max_entries_limit_per_query " +
        `(${limit} > ${maxEntriesReturned})`,
      "limit",
    );
  }
  const streams = await evaluateLogQuery(
    expression,
    {
      startUnixNano,
      endUnixNano,
      direction,
      limit,
      intervalNano: toNanos(intervalMs),
      categorizesLabels: query.categorizesLabels ?? false,
    },
    context,
  );
  return { type: "streams", streams };
}

async function evaluateSteps(
  expression: MetricExpression,
  query: LogqlRangeQuery,
  context: EvaluationContext,
): Promise<LogqlValue> {
  const { endUnixNano, startUnixNano, stepMs } = query;
  if (!(stepMs > 0)) {
    throw queryError("zero or negative query resolution step widths are not accepted. Try a positive integer", "step");
  }
  if (endUnixNano < startUnixNano) {
    throw queryError("end timestamp must not be before or equal to start time", "end");
  }
  if (usesApproximation(expression)) throw queryError("approx_topk is only supported on instant queries");
  const stepNano = toNanos(Math.max(stepMs, 1e-6));
  const { maxPointsPerSeries } = context.limits;
  if ((endUnixNano - startUnixNano) / stepNano > BigInt(maxPointsPerSeries)) {
    throw queryError(
      `exceeded maximum resolution of ${maxPointsPerSeries.toLocaleString("en-US")} points per time series. ` +
        "Try increasing the value of the step parameter",
      "step",
    );
  }
  const steps = query.alignsSteps === false ? stepsOf : alignedStepsOf;
  const grid = steps(startUnixNano, endUnixNano, stepNano);
  return matrixOf(await evaluateAt(expression, grid, context), grid, context.budget);
}

async function evaluateAt(
  expression: MetricExpression,
  grid: TimeGrid,
  context: EvaluationContext,
): Promise<MetricValue> {
  const ranges = await evaluateRanges(expression, grid, context);
  const value = await evaluateMetric(expression, { budget: context.budget, count: grid.count, ranges });
  context.budget.check();
  return value;
}

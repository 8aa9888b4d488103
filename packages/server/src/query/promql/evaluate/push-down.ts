/** Parts of a query that a store may answer itself: `sum by (…) (rate(selector[window]))` and `increase`. */
import type { GridSeries, PromqlStorage, SumOfRatesRequest } from "../storage.ts";
import type { Aggregation, Call, Expression, MatrixSelector } from "../syntax/ast.ts";
import { childrenOf, withoutParentheses } from "../syntax/ast.ts";
import type { Budget } from "./budget.ts";
import { float, timeAt, type Column, type Grid } from "./grid.ts";
import { durationMs, fixedTimeMs, offsetMs, type QueryTimes } from "./query-context.ts";
import { storeLimits } from "./select-series.ts";

export interface PushDownContext extends QueryTimes {
  readonly storage: PromqlStorage;
  readonly budget: Budget;
  readonly grid: Grid;
  readonly isStepInvariant: (expression: Expression) => boolean;
}

interface SumOfRates {
  readonly aggregation: Aggregation;
  readonly call: Call;
  readonly range: MatrixSelector;
}

/** The store's answers to those parts of the query that it took; the samples of the others must be selected. */
export async function askStore(
  expression: Expression,
  context: PushDownContext,
): Promise<ReadonlyMap<Expression, readonly Column[]>> {
  const answers = new Map<Expression, readonly Column[]>();
  if (context.storage.sumOfRates === undefined) return answers;
  for (const part of sumsOfRatesIn(expression)) {
    const grid = context.isStepInvariant(part.aggregation) ? { ...context.grid, count: 1 } : context.grid;
    context.budget.check();
    const answer = await context.storage.sumOfRates(requestFor(part, grid, context));
    context.budget.check();
    if (answer === null) continue;
    context.budget.checkSeries(answer.length, "the store's answer");
    context.budget.hold(answer.length * grid.count);
    answers.set(part.aggregation, answer.map(toColumn));
  }
  return answers;
}

/** The candidates on the query's own grid; inside subqueries are other grids. */
function sumsOfRatesIn(expression: Expression): SumOfRates[] {
  if (expression.kind === "subquery") return [];
  const part = expression.kind === "aggregation" ? sumOfRates(expression) : null;
  return part === null ? childrenOf(expression).flatMap(sumsOfRatesIn) : [part];
}

function sumOfRates(aggregation: Aggregation): SumOfRates | null {
  if (aggregation.operator !== "sum") return null;
  const call = withoutParentheses(aggregation.expression);
  if (call.kind !== "call" || (call.function !== "rate" && call.function !== "increase")) return null;
  const range = withoutParentheses(call.arguments[0]!);
  if (range.kind !== "matrix-selector" || range.selector.boundary !== null) return null;
  return { aggregation, call, range };
}

function requestFor({ aggregation, call, range }: SumOfRates, grid: Grid, context: PushDownContext): SumOfRatesRequest {
  const windowMs = durationMs(range.range, context);
  const fixedMs = fixedTimeMs(range.selector, context);
  const offset = offsetMs(range.selector, context);
  const first = (fixedMs ?? grid.startMs) - offset;
  const last = (fixedMs ?? timeAt(grid, grid.count - 1)) - offset;
  const groupBy = { labels: aggregation.grouping, without: aggregation.without };
  return {
    matchers: range.selector.matchers,
    fromMs: first - windowMs + 1,
    toMs: last,
    hints: {
      stepMs: grid.stepMs,
      rangeMs: windowMs,
      function: call.function,
      grouping: groupBy,
      ...storeLimits(context.budget),
    },
    signal: context.budget.signal,
    function: call.function === "rate" ? "rate" : "increase",
    windowMs,
    windowEndMs: { first, stepMs: grid.stepMs, count: grid.count },
    groupBy,
  };
}

function toColumn({ labels, present, values }: GridSeries): Column {
  const kinds = present.map((one) => (one === 0 ? 0 : float));
  return { labels, dropName: false, kinds, values, histograms: null };
}

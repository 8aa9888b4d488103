/**
 * Parts of a query that a store may compute itself: `sum by (…) (rate(selector[window]))` and `increase`, `min` of
 * `min_over_time`, `max` of `max_over_time`.
 */
import type { GridSeries, PromqlStorage, WindowFunction, WindowsRequest } from "../storage.ts";
import type { Aggregation, Expression, MatrixSelector } from "../syntax/ast.ts";
import { childrenOf, withoutParentheses } from "../syntax/ast.ts";
import { printExpression } from "../syntax/print.ts";
import { workOfLabels, type Budget } from "./budget.ts";
import { timeAt, type Column, type Grid } from "./grid.ts";
import { durationMs, fixedTimeMs, offsetMs, type QueryTimes } from "./query-context.ts";
import { storeAccess, storeLimits } from "./select-series.ts";

export interface PushDownContext extends QueryTimes {
  readonly storage: PromqlStorage;
  readonly budget: Budget;
  readonly grid: Grid;
  readonly isStepInvariant: (expression: Expression) => boolean;
}

interface WindowsPart {
  readonly aggregation: Aggregation;
  readonly function: WindowFunction;
  readonly range: MatrixSelector;
}

/** The store's answers to those parts of the query that it took; the samples of the others must be selected. */
export async function evaluatePushedDown(
  expression: Expression,
  context: PushDownContext,
): Promise<ReadonlyMap<Expression, readonly Column[]>> {
  const answers = new Map<Expression, readonly Column[]>();
  if (context.storage.aggregateWindows === undefined) return answers;
  // A query that repeats a part requests it once.
  const parts = Map.groupBy(windowsPartsIn(expression), ({ aggregation }) => printExpression(aggregation));
  for (const [part, ...others] of parts.values()) {
    const columns = await askFor(part!, context);
    if (columns === null) continue;
    for (const { aggregation } of [part!, ...others]) answers.set(aggregation, columns);
  }
  return answers;
}

async function askFor(part: WindowsPart, context: PushDownContext): Promise<readonly Column[] | null> {
  const { budget, storage } = context;
  const grid = context.isStepInvariant(part.aggregation) ? { ...context.grid, count: 1 } : context.grid;
  budget.check();
  let answerBytes = 0;
  const charge = (bytes: number): void => {
    budget.holdBytes(bytes);
    answerBytes += bytes;
  };
  const answer = await storage.aggregateWindows!({ ...requestFor(part, grid, context), charge });
  budget.releaseBytes(answerBytes);
  budget.check();
  if (answer === null) return null;
  budget.checkSeries(answer.length, "the store's answer");
  budget.holdSamples(answer.length * grid.count);
  const columns: Column[] = [];
  for (const series of answer) {
    columns.push(toColumn(series));
    if (budget.spend(workOfLabels + grid.count)) await budget.yield();
  }
  return columns;
}

/** The candidates on the query's own grid; inside subqueries are other grids. */
function windowsPartsIn(expression: Expression): WindowsPart[] {
  if (expression.kind === "subquery") return [];
  const part = expression.kind === "aggregation" ? windowsPart(expression) : null;
  return part === null ? childrenOf(expression).flatMap(windowsPartsIn) : [part];
}

/** The operator that combines a function's results over parts of a window into its result over the window. */
const operatorOf: Readonly<Record<WindowFunction, Aggregation["operator"]>> = {
  rate: "sum",
  increase: "sum",
  min_over_time: "min",
  max_over_time: "max",
};

function isWindowFunction(name: string): name is WindowFunction {
  return Object.hasOwn(operatorOf, name);
}

function windowsPart(aggregation: Aggregation): WindowsPart | null {
  const call = withoutParentheses(aggregation.expression);
  if (call.kind !== "call" || !isWindowFunction(call.function)) return null;
  if (aggregation.operator !== operatorOf[call.function]) return null;
  const range = withoutParentheses(call.arguments[0]!);
  if (range.kind !== "matrix-selector" || range.selector.boundary !== null) return null;
  return { aggregation, function: call.function, range };
}

function requestFor(part: WindowsPart, grid: Grid, context: PushDownContext): WindowsRequest {
  const { aggregation, range } = part;
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
      function: part.function,
      grouping: groupBy,
      ...storeLimits(context.budget),
    },
    ...storeAccess(context.budget),
    function: part.function,
    windowMs,
    windowEndMs: { first, stepMs: grid.stepMs, count: grid.count },
    groupBy,
  };
}

/** A step's kind is `absent` or `float`, which are the marks of `present`. */
function toColumn({ labels, present, values }: GridSeries): Column {
  return { labels, dropName: false, kinds: present, values, histograms: null };
}

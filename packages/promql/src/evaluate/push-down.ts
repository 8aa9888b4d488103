/**
 * Parts of a query that a store may compute itself: `sum by (…) (rate(selector[window]))` and `increase`, `min` of
 * `min_over_time`, `max` of `max_over_time`, and numbers that these are reduced to.
 */
import type { GridSeries, PromqlStorage, WindowFunction, WindowsRequest } from "../storage.ts";
import type { Aggregation, BinaryExpression, Expression, MatrixSelector } from "../syntax/ast.ts";
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
  // A query that repeats a part requests it once.
  const asked = new Map<string, Promise<readonly Column[] | null>>();
  const ask = (part: Expression, request: () => Promise<readonly Column[] | null>): typeof answer => {
    const text = printExpression(part);
    let answer = asked.get(text);
    if (answer === undefined) asked.set(text, (answer = request()));
    return answer;
  };
  // Parts on the query's own grid; inside subqueries are other grids.
  const answerParts = async (each: Expression): Promise<void> => {
    if (each.kind === "subquery") return;
    const part = partOf(each, context);
    const columns = part && (await ask(each, part));
    if (columns != null) answers.set(each, columns);
    else for (const child of childrenOf(each)) await answerParts(child);
  };
  await answerParts(expression);
  return answers;
}

/** The request for what a store may compute; null for other expressions. */
function partOf(expression: Expression, context: PushDownContext): (() => Promise<readonly Column[] | null>) | null {
  const { storage } = context;
  if (expression.kind !== "aggregation" || storage.aggregateWindows === undefined) return null;
  const part = windowsPart(expression);
  if (part !== null) return () => askForWindows(part, context);
  const reduction = storage.reduceWindows === undefined ? null : reductionPart(expression);
  return reduction && (() => askForReduction(reduction, context));
}

async function askForWindows(part: WindowsPart, context: PushDownContext): Promise<readonly Column[] | null> {
  const { budget, storage } = context;
  const grid = gridOfPart(part.aggregation, context);
  const answer = await charged(budget, (charge) =>
    storage.aggregateWindows!({ ...requestFor(part, grid, context), charge }),
  );
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

async function askForReduction(part: ReductionPart, context: PushDownContext): Promise<readonly Column[] | null> {
  const { budget, storage } = context;
  const grid = gridOfPart(part.aggregation, context);
  const answer = await charged(budget, (charge) => {
    const windows = { ...requestFor(part.windows, grid, context), charge };
    if (part.subtracted === undefined) return storage.reduceWindows!({ kind: "count_positive", windows });
    const subtracted = { ...requestFor(part.subtracted, grid, context), charge };
    return storage.reduceWindows!({ kind: "average_difference", windows, subtracted });
  });
  if (answer === null) return null;
  budget.holdSamples(grid.count);
  return answer.present.includes(1) ? [toColumn(answer)] : [];
}

function gridOfPart(expression: Expression, { grid, isStepInvariant }: PushDownContext): Grid {
  return isStepInvariant(expression) ? { ...grid, count: 1 } : grid;
}

/** Charges the store's answer to the budget until it is there. */
async function charged<Answer>(
  budget: Budget,
  ask: (charge: (bytes: number) => void) => Promise<Answer>,
): Promise<Answer> {
  budget.check();
  let answerBytes = 0;
  const answer = await ask((bytes) => {
    budget.holdBytes(bytes);
    answerBytes += bytes;
  });
  budget.releaseBytes(answerBytes);
  budget.check();
  return answer;
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

interface ReductionPart {
  readonly aggregation: Aggregation;
  readonly windows: WindowsPart;
  /** What an average is the difference to; absent for a count. */
  readonly subtracted?: WindowsPart;
}

/** Only aggregations of all series into one. */
function reductionPart(aggregation: Aggregation): ReductionPart | null {
  const { expression, grouping, operator, without } = aggregation;
  const inner = withoutParentheses(expression);
  if (inner.kind !== "binary" || grouping.length > 0 || without || inner.returnBool) return null;
  const windows = windowsPartIn(inner.left);
  if (windows === null) return null;
  if (operator === "count" && inner.operator === ">" && isZero(inner.right)) {
    return operatorOf[windows.function] === "sum" ? { aggregation, windows } : null;
  }
  if (operator !== "avg" || inner.operator !== "-" || !matchesWholeLabels(inner)) return null;
  const subtracted = windowsPartIn(inner.right);
  if (windows.function !== "max_over_time" || subtracted?.function !== "min_over_time") return null;
  return { aggregation, windows, subtracted };
}

function windowsPartIn(expression: Expression): WindowsPart | null {
  const inner = withoutParentheses(expression);
  return inner.kind === "aggregation" ? windowsPart(inner) : null;
}

function isZero(expression: Expression): boolean {
  const inner = withoutParentheses(expression);
  return inner.kind === "number" && inner.value === 0;
}

/** Whether series are matched one to one, without `on`, `ignoring` and `group_left`. */
function matchesWholeLabels({ matching }: BinaryExpression): boolean {
  if (matching === null || matching.fillLeft !== null || matching.fillRight !== null) return false;
  return matching.cardinality === "one-to-one" && !matching.on && matching.labels.length === 0;
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

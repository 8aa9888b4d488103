/** Functions over ranges: a window is moved over each series, step by step. */
import { inputLimit } from "../input-limit.ts";
import type { RangeCall, Window } from "../functions/range-function.ts";
import { boundaryFunctions, rangeFunctions } from "../functions/range-functions.ts";
import { emptyLabels, getLabel, labelsFrom } from "../series/labels.ts";
import type { Call, Expression, LabelMatcher } from "../syntax/ast.ts";
import { withoutParentheses } from "../syntax/ast.ts";
import { nowhere } from "../syntax/source-range.ts";
import { messages } from "./annotations.ts";
import { samplesOfHistogram } from "../histogram/float-histogram.ts";
import { workOfHistogram, type Budget } from "./budget.ts";
import { float, isEmpty, newColumn, setFloat, timeAt, type Column, type Grid } from "./grid.ts";
import { evaluationError, type QueryContext } from "./query-context.ts";
import { presentSteps } from "./match-groups.ts";
import { firstAfter, type RangeSeries } from "./range-series.ts";

/** The range argument of a call, evaluated. */
export interface RangeArgument {
  readonly expression: Expression;
  /** Created one by one, so that preparing many series does not block the thread. */
  readonly series: readonly (() => RangeSeries)[];
  readonly rangeMs: number;
  readonly fixedMs: number | undefined;
  readonly offsetMs: number;
  readonly boundary: "anchored" | "smoothed" | null;
}

interface RangeEvaluation {
  readonly range: RangeArgument;
  readonly scalars: readonly Float64Array[];
  readonly grid: Grid;
  readonly context: QueryContext;
}

/** The call's series. */
export async function evaluateRangeCall(call: Call, evaluation: RangeEvaluation): Promise<readonly Column[]> {
  const { range, grid, context } = evaluation;
  refuseBoundary(call, range);
  const columns: Column[] = [];
  for (const make of range.series) {
    context.budget.holdSamples(grid.count);
    const column = await evaluateSeries(call, make(), evaluation);
    if (isEmpty(column)) {
      context.budget.releaseSamples(grid.count);
      continue;
    }
    columns.push(column);
    if (call.function === "rate" || call.function === "increase") informOfNonCounter(column, call, context);
  }
  return call.function === "absent_over_time" ? absentFrom(columns, range.expression, { grid, context }) : columns;
}

function refuseBoundary(call: Call, { boundary }: RangeArgument): void {
  if (boundary === null || boundaryFunctions[boundary].includes(call.function)) return;
  const allowed = boundaryFunctions[boundary].join(", ");
  throw evaluationError(`${boundary} modifier can only be used with: ${allowed} - not with ${call.function}`);
}

/** The argument that annotations point to; like Prometheus, at the query's start for subqueries. */
function annotationPosition(call: Call): RangeCall["at"] {
  const first = withoutParentheses(call.arguments[0]!);
  return first.kind === "subquery" ? nowhere : first.at;
}

/** Functions that shift a series rather than compute something else from it. */
const keepsName: ReadonlySet<string> = new Set(["first_over_time", "last_over_time"]);

async function evaluateSeries(call: Call, series: RangeSeries, evaluation: RangeEvaluation): Promise<Column> {
  const { range, grid, scalars } = evaluation;
  const { annotations, budget, lookbackMs } = evaluation.context;
  const { boundary, rangeMs } = range;
  const metric = getLabel(series.labels, "__name__");
  const kernel = rangeFunctions.get(call.function)!(series, {
    annotations,
    at: annotationPosition(call),
    metric,
    scalars,
    rangeMs,
    boundary,
  });
  const column = newColumn(series.labels, series.dropName || !keepsName.has(call.function), grid.count);
  const window = newWindow();
  const largestHistogram = series.histograms.values.reduce((most, one) => Math.max(most, samplesOfHistogram(one)), 0);
  const reach: Reach = {
    before: boundary === null ? 0 : lookbackMs,
    after: boundary === "smoothed" ? lookbackMs : 0,
  };
  if (budget.spend(series.floats.times.length)) await budget.yield();
  for (let step = 0; step < grid.count; step++) {
    window.step = step;
    window.timeMs = timeAt(grid, step);
    window.endMs = (range.fixedMs ?? window.timeMs) - range.offsetMs;
    window.startMs = window.endMs - rangeMs;
    moveWindow(window, series, reach);
    const floats = window.endFloat - window.firstFloat;
    const histograms = window.endHistogram - window.firstHistogram;
    checkWindow({ floats, buckets: histograms * largestHistogram }, budget);
    if (floats + histograms > 0) kernel(window, column);
    if (budget.spend(floats + histograms * workOfHistogram + 1)) await budget.yield();
  }
  return column;
}

/** Buckets of the native histograms of one series that a range may have: its function reads them without yielding. */
const maximumWindowBuckets = inputLimit({
  area: "PromQL",
  bounds: "Buckets of the native histograms of one series in a range",
  value: 2_000_000,
  error: "invalid_request",
});

function checkWindow({ buckets, floats }: { readonly floats: number; readonly buckets: number }, budget: Budget): void {
  const { maxWindowSamples } = budget.limits;
  if (floats > maxWindowSamples) {
    throw evaluationError(
      `a range has ${floats} samples of one series, the limit is ${maxWindowSamples}: use a shorter range`,
    );
  }
  if (buckets > maximumWindowBuckets) {
    throw evaluationError(
      `the native histograms in a range have ${buckets} buckets, the limit is ${maximumWindowBuckets}: use a shorter range`,
    );
  }
}

function newWindow(): Window {
  return {
    step: 0,
    timeMs: 0,
    startMs: 0,
    endMs: 0,
    firstFloat: 0,
    endFloat: 0,
    firstHistogram: 0,
    endHistogram: 0,
  };
}

/** Moves the window's indexes to samples later than its first time up to its last; both only ever grow. */
function moveWindow(window: Window, { floats, histograms }: RangeSeries, reach: Reach): void {
  const fromMs = window.startMs - reach.before;
  const toMs = window.endMs + reach.after;
  if (window.step === 0) {
    window.firstFloat = window.endFloat = firstAfter(floats.times, fromMs);
    window.firstHistogram = window.endHistogram = firstAfter(histograms.times, fromMs);
  }
  window.firstFloat = advance(floats.times, window.firstFloat, fromMs);
  window.endFloat = advance(floats.times, Math.max(window.endFloat, window.firstFloat), toMs);
  if (histograms.times.length === 0) return;
  window.firstHistogram = advance(histograms.times, window.firstHistogram, fromMs);
  window.endHistogram = advance(histograms.times, Math.max(window.endHistogram, window.firstHistogram), toMs);
}

/** How far samples beyond the range are needed, in milliseconds. */
interface Reach {
  readonly before: number;
  readonly after: number;
}

function advance(times: Float64Array, from: number, timeMs: number): number {
  let index = from;
  while (index < times.length && times[index]! <= timeMs) index++;
  return index;
}

function informOfNonCounter(column: Column, call: Call, context: QueryContext): void {
  const metric = getLabel(column.labels, "__name__");
  if (metric === "" || /_(?:total|sum|count|bucket)$/.test(metric) || !column.kinds.includes(float)) return;
  context.annotations.inform(messages.possibleNonCounter(metric), annotationPosition(call));
}

/** 1 wherever none of the columns has anything. */
export async function absentFrom(
  columns: readonly Column[],
  expression: Expression,
  { context, grid }: { readonly grid: Grid; readonly context: QueryContext },
): Promise<readonly Column[]> {
  context.budget.holdSamples(grid.count);
  const present = await presentSteps(columns, grid.count, context.budget);
  const result = newColumn(labelsForAbsent(expression), false, grid.count);
  for (let step = 0; step < grid.count; step++) {
    if (present[step] === 0) setFloat(result, step, 1);
  }
  return isEmpty(result) ? [] : [result];
}

/** The labels that an absent series must have had: those with exactly one equality matcher. */
function labelsForAbsent(expression: Expression): Column["labels"] {
  const inner = withoutParentheses(expression);
  if (inner.kind === "matrix-selector") return labelsOfMatchers(inner.selector.matchers);
  return inner.kind === "vector-selector" ? labelsOfMatchers(inner.matchers) : emptyLabels;
}

function labelsOfMatchers(matchers: readonly LabelMatcher[]): Column["labels"] {
  const labels = new Map<string, string>();
  const seen = new Set<string>();
  for (const { name, operator, value } of matchers) {
    if (name === "__name__") continue;
    if (operator === "=" && !seen.has(name)) labels.set(name, value);
    else labels.delete(name);
    if (operator === "=") seen.add(name);
  }
  return labelsFrom(labels);
}

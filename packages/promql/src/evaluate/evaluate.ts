/** The evaluator: an expression's value on all steps of a grid at once, column by column. */
import { selectorTime, evaluateSelector, readColumns, readStart, readTime } from "./evaluate-selector.ts";
import type {
  Aggregation,
  BinaryExpression,
  Call,
  Expression,
  MatrixSelector,
  Subquery,
  VectorSelector,
} from "../syntax/ast.ts";
import { withoutParentheses } from "../syntax/ast.ts";
import { typeOf } from "../syntax/check.ts";
import { aggregate } from "./aggregate.ts";
import { chooseColumns } from "./aggregate-choice.ts";
import { matrixOfSelector } from "./evaluate-matrix.ts";
import { countValues } from "./count-values.ts";
import { evaluateCall } from "./evaluate-call.ts";
import { negateColumns, operateOnScalars, operateWithScalar } from "./evaluate-binary.ts";
import { evaluateRangeCall, type RangeArgument } from "./evaluate-range-call.ts";
import { float, gridOf, newColumn, setFloat, setHistogram, histogramAt, type Column, type Grid } from "./grid.ts";
import { evaluateInfo } from "./info.ts";
import { matchVectors } from "./match-vectors.ts";
import { durationMs, evaluationError, fixedTimeMs, offsetMs, type QueryContext, type Value } from "./query-context.ts";
import { columnToRangeSeries, toRangeSeries, type RangeSeries } from "./range-series.ts";
import { subqueryStepMs } from "./select-series.ts";
import { applySetOperator } from "./set-operators.ts";

/** The expression's value at every step of the grid. */
export async function evaluate(expression: Expression, grid: Grid, context: QueryContext): Promise<Value> {
  const { budget } = context;
  budget.check();
  const type = typeOf(expression);
  if (grid.count === 0 && type === "vector") return { type, columns: [] };
  const { held } = budget;
  // Before the value is computed: a subquery's grid can be long.
  if (type === "scalar") budget.holdSamples(grid.count);
  const isRepeated = grid.count > 1 && (type === "vector" || type === "scalar") && expression.kind !== "number";
  const value =
    isRepeated && context.isStepInvariant(expression)
      ? await repeat(await evaluateNode(expression, { ...grid, count: 1 }, context), grid.count, context)
      : await evaluateNode(expression, grid, context);
  // From here on, only the value is in memory, not its operands.
  const isStored = value.type === "matrix" && withoutParentheses(expression).kind === "matrix-selector";
  budget.releaseDownTo(held + (isStored ? 0 : samplesOf(value)));
  return value;
}

/** How many samples a value holds in memory. */
function samplesOf(value: Value): number {
  switch (value.type) {
    case "vector":
      return value.columns.reduce((sum, { kinds }) => sum + kinds.length, 0);
    case "scalar":
      return value.values.length;
    case "matrix":
      return value.series.reduce(
        (sum, { floats, histograms }) => sum + floats.times.length + histograms.times.length,
        0,
      );
    default:
      return 0;
  }
}

/** The value of one step at all steps. */
async function repeat(value: Value, count: number, { budget }: QueryContext): Promise<Value> {
  if (value.type === "scalar") return { type: "scalar", values: new Float64Array(count).fill(value.values[0]!) };
  if (value.type !== "vector") return value;
  const columns: Column[] = [];
  for (const column of value.columns) {
    budget.holdSamples(count);
    columns.push(repeatColumn(column, count));
    if (budget.spend(count)) await budget.yield();
  }
  return { type: "vector", columns };
}

function repeatColumn(column: Column, count: number): Column {
  const repeated = newColumn(column.labels, column.dropName, count);
  for (let step = 0; step < count; step++) {
    if (column.kinds[0] === float) setFloat(repeated, step, column.values[0]!);
    else setHistogram(repeated, step, histogramAt(column, 0));
  }
  return repeated;
}

function evaluateNode(expression: Expression, grid: Grid, context: QueryContext): Value | Promise<Value> {
  switch (expression.kind) {
    case "number":
      return { type: "scalar", values: new Float64Array(grid.count).fill(expression.value) };
    case "string":
      return { type: "string", value: expression.value };
    case "parentheses":
      return evaluate(expression.inner, grid, context);
    case "vector-selector":
      return asVector(evaluateSelector(expression, grid, context));
    case "matrix-selector":
      return matrixOfSelector(expression, grid, context).then((series) => ({ type: "matrix", series }));
    case "subquery":
      return evaluateSubquery(expression, grid, context).then((series) => ({ type: "matrix", series }));
    case "unary":
      return evaluateUnary(expression.operator, expression.operand, { grid, context });
    case "binary":
      return evaluateBinary(expression, grid, context);
    case "aggregation":
      return asVector(evaluateAggregation(expression, grid, context));
    case "call":
      return evaluateFunction(expression, grid, context);
  }
}

async function asVector(columns: Promise<readonly Column[]>): Promise<Value> {
  return { type: "vector", columns: await columns };
}

async function vectorOf(expression: Expression, grid: Grid, context: QueryContext): Promise<readonly Column[]> {
  const value = await evaluate(expression, grid, context);
  return value.type === "vector" ? value.columns : [];
}

async function scalarOf(expression: Expression, grid: Grid, context: QueryContext): Promise<Float64Array> {
  const value = await evaluate(expression, grid, context);
  return value.type === "scalar" ? value.values : new Float64Array(grid.count).fill(Number.NaN);
}

async function evaluateUnary(
  operator: "+" | "-",
  operand: Expression,
  { grid, context }: { grid: Grid; context: QueryContext },
): Promise<Value> {
  const value = await evaluate(operand, grid, context);
  if (operator === "+") return value;
  if (value.type === "scalar") return { type: "scalar", values: value.values.map((number) => -number) };
  return value.type === "vector" ? asVector(negateColumns(value.columns, context)) : value;
}

async function evaluateBinary(binary: BinaryExpression, grid: Grid, context: QueryContext): Promise<Value> {
  const left = await evaluate(binary.left, grid, context);
  const right = await evaluate(binary.right, grid, context);
  const { count } = grid;
  if (left.type === "scalar" && right.type === "scalar") {
    return { type: "scalar", values: operateOnScalars(binary, left.values, right.values) };
  }
  if (left.type === "vector" && right.type === "vector") {
    const sides = { left: left.columns, right: right.columns, count };
    if (binary.matching?.cardinality === "many-to-many") {
      return asVector(applySetOperator(binary, sides, context));
    }
    return asVector(matchVectors(binary, sides, context));
  }
  if (left.type === "vector" && right.type === "scalar") {
    const sides = { columns: left.columns, scalar: right.values, scalarIsLeft: false };
    return asVector(operateWithScalar(binary, sides, context));
  }
  if (left.type === "scalar" && right.type === "vector") {
    const sides = { columns: right.columns, scalar: left.values, scalarIsLeft: true };
    return asVector(operateWithScalar(binary, sides, context));
  }
  throw evaluationError("binary expression must contain only scalar and instant vector types");
}

const choices: ReadonlySet<string> = new Set(["topk", "bottomk", "limitk", "limit_ratio"]);

async function evaluateAggregation(
  aggregation: Aggregation,
  grid: Grid,
  context: QueryContext,
): Promise<readonly Column[]> {
  const answered = context.answered.get(aggregation);
  if (answered !== undefined) return answered;
  const { operator } = aggregation;
  if (operator === "count_values") {
    const parameter = withoutParentheses(aggregation.parameter!);
    const valueLabel = parameter.kind === "string" ? parameter.value : "";
    const columns = await vectorOf(aggregation.expression, grid, context);
    return countValues(columns, { aggregation, valueLabel, count: grid.count, context });
  }
  const parameter =
    aggregation.parameter === null ? new Float64Array(0) : await scalarOf(aggregation.parameter, grid, context);
  const columns = await vectorOf(aggregation.expression, grid, context);
  const call = { aggregation, context, parameter };
  return choices.has(operator) ? chooseColumns(columns, call) : aggregate(columns, call);
}

async function evaluateFunction(call: Call, grid: Grid, context: QueryContext): Promise<Value> {
  const first = call.arguments[0] === undefined ? undefined : withoutParentheses(call.arguments[0]);
  const isTime = call.function === "timestamp" || call.function === "start_timestamp";
  if (isTime && first?.kind === "vector-selector") return asVector(timesOfSamples(call, first, { grid, context }));
  const rangeIndex = call.arguments.findIndex((argument) => typeOf(argument) === "matrix");
  if (rangeIndex !== -1) return asVector(evaluateRangeFunction(call, rangeIndex, { grid, context }));
  const values: Value[] = [];
  for (const [index, argument] of call.arguments.entries()) {
    // The second argument of info is no expression but a list of matchers.
    if (call.function === "info" && index === 1) continue;
    values.push(await evaluate(argument, grid, context));
  }
  if (call.function === "info") {
    const columns = values[0]?.type === "vector" ? values[0].columns : [];
    return asVector(evaluateInfo({ call, columns, grid, context }));
  }
  return evaluateCall({ call, values, grid, context });
}

interface Place {
  readonly grid: Grid;
  readonly context: QueryContext;
}

/** timestamp and start_timestamp of a selector: of its samples, not of the steps. */
async function timesOfSamples(
  call: Call,
  selector: VectorSelector,
  { grid, context }: Place,
): Promise<readonly Column[]> {
  const isStart = call.function === "start_timestamp";
  const options = { grid, context, time: selectorTime(selector, context), read: isStart ? readStart : readTime };
  const columns = await readColumns(context.selected.get(selector) ?? [], options);
  const times: Column[] = [];
  for (const column of columns) {
    times.push({ ...column, dropName: true, values: isStart ? column.values : column.values.map((ms) => ms / 1000) });
    if (context.budget.spend(grid.count)) await context.budget.yield();
  }
  return times;
}

async function evaluateRangeFunction(call: Call, index: number, { grid, context }: Place): Promise<readonly Column[]> {
  const scalars: Float64Array[] = [];
  for (const [position, argument] of call.arguments.entries()) {
    if (position !== index) scalars.push(await scalarOf(argument, grid, context));
  }
  const expression = withoutParentheses(call.arguments[index]!);
  if (expression.kind !== "matrix-selector" && expression.kind !== "subquery") {
    throw evaluationError(`expected a range vector in call to function "${call.function}"`);
  }
  const range =
    expression.kind === "subquery"
      ? await subqueryArgument(expression, grid, context)
      : selectorArgument(expression, context);
  return evaluateRangeCall(call, { range, scalars, grid, context });
}

function selectorArgument(expression: MatrixSelector, context: QueryContext): RangeArgument {
  const { selector } = expression;
  return {
    expression,
    series: (context.selected.get(selector) ?? []).map((stored) => () => toRangeSeries(stored)),
    rangeMs: durationMs(expression.range, context),
    ...selectorTime(selector, context),
    boundary: selector.boundary,
  };
}

async function subqueryArgument(expression: Subquery, grid: Grid, context: QueryContext): Promise<RangeArgument> {
  const series = await evaluateSubquery(expression, grid, context);
  return {
    expression,
    series: series.map((one) => () => one),
    rangeMs: durationMs(expression.range, context),
    fixedMs: fixedTimeMs(expression, context),
    offsetMs: offsetMs(expression, context),
    boundary: null,
  };
}

/** The inner expression on its own grid, whose steps are multiples of the subquery's step. */
async function evaluateSubquery(
  subquery: Subquery,
  grid: Grid,
  context: QueryContext,
): Promise<readonly RangeSeries[]> {
  const rangeMs = durationMs(subquery.range, context);
  const stepMs = subqueryStepMs(subquery, context);
  const fixedMs = fixedTimeMs(subquery, context);
  const offset = offsetMs(subquery, context);
  const firstMs = (fixedMs ?? grid.startMs) - offset - rangeMs;
  const endMs = (fixedMs ?? grid.startMs + (grid.count - 1) * grid.stepMs) - offset;
  const inner = gridOf((Math.floor(firstMs / stepMs) + 1) * stepMs, endMs, stepMs);
  const { budget } = context;
  const { maxWindowSamples } = budget.limits;
  if (inner.count > maxWindowSamples) {
    throw evaluationError(
      `a subquery has ${inner.count} steps, the limit is ${maxWindowSamples}: use a larger step or a shorter range`,
    );
  }
  const series: RangeSeries[] = [];
  for (const column of await vectorOf(subquery.expression, inner, context)) {
    budget.holdSamples(inner.count);
    series.push(columnToRangeSeries(column, inner));
    if (budget.spend(2 * inner.count)) await budget.yield();
  }
  return series;
}

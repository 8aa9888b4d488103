/** Calls of functions that take no range: each gets its arguments evaluated. */
import { clampTo, dateFunctions, floatFunctions, greaterOf, roundTo, smallerOf } from "../functions/float-functions.ts";
import {
  fractionColumns,
  histogramFunctions,
  manyQuantileColumns,
  mapHistograms,
  quantileColumns,
} from "../functions/histogram-functions.ts";
import { joinLabels, replaceLabel, sortByLabels, sortByValue } from "../functions/label-functions.ts";
import { emptyLabels } from "../series/labels.ts";
import type { Call } from "../syntax/ast.ts";
import { messages } from "./annotations.ts";
import { absentFrom } from "./evaluate-range-call.ts";
import type { Budget } from "./budget.ts";
import { absent, float, isEmpty, newColumn, setFloat, timeAt, timesOf, type Column, type Grid } from "./grid.ts";
import type { QueryContext, Value } from "./query-context.ts";

interface Invocation {
  readonly call: Call;
  readonly values: readonly Value[];
  readonly grid: Grid;
  readonly context: QueryContext;
}

/** The call's value. */
export async function evaluateCall(invocation: Invocation): Promise<Value> {
  const { call, grid } = invocation;
  const scalar = await scalarCall(invocation);
  if (scalar !== undefined) return { type: "scalar", values: scalar };
  const columns = await vectorCall(invocation);
  return {
    type: "vector",
    columns: grid.count === 0 || call.function.startsWith("sort") ? columns : columns.filter((one) => !isEmpty(one)),
  };
}

function columnsOf({ values }: Invocation, index: number): readonly Column[] {
  const value = values[index];
  return value?.type === "vector" ? value.columns : [];
}

function scalarOf({ values, grid }: Invocation, index: number): Float64Array {
  const value = values[index];
  return value?.type === "scalar" ? value.values : new Float64Array(grid.count).fill(Number.NaN);
}

function textOf({ values }: Invocation, index: number): string {
  const value = values[index];
  return value?.type === "string" ? value.value : "";
}

function textsFrom(invocation: Invocation, index: number): string[] {
  return invocation.values.slice(index).map((_, offset) => textOf(invocation, index + offset));
}

/** The value of a function that returns a scalar; undefined for the others. */
async function scalarCall(invocation: Invocation): Promise<Float64Array | undefined> {
  const { call, context, grid } = invocation;
  const constant = (value: number): Float64Array => new Float64Array(grid.count).fill(value);
  const either = (choose: (left: number, right: number) => number): Float64Array => {
    const [left, right] = [scalarOf(invocation, 0), scalarOf(invocation, 1)];
    return left.map((value, step) => choose(value, right[step]!));
  };
  switch (call.function) {
    case "pi":
      return constant(Math.PI);
    case "time":
      return timesOf(grid).map((ms) => ms / 1000);
    case "start":
      return constant(context.startMs / 1000);
    case "end":
      return constant(context.endMs / 1000);
    case "range":
      return constant((context.endMs - context.startMs) / 1000);
    case "step":
      return constant(context.startMs === context.endMs ? 0 : context.stepMs / 1000);
    case "max_of":
      return either(greaterOf);
    case "min_of":
      return either(smallerOf);
    case "scalar":
      return onlyFloat(columnsOf(invocation, 0), grid, context.budget);
    default:
      return undefined;
  }
}

/** The float of each step that has exactly one, else NaN. */
async function onlyFloat(columns: readonly Column[], grid: Grid, budget: Budget): Promise<Float64Array> {
  const values = new Float64Array(grid.count).fill(Number.NaN);
  const counts = new Int32Array(grid.count);
  for (const column of columns) {
    for (let step = 0; step < grid.count; step++) {
      if (column.kinds[step] !== float) continue;
      counts[step]!++;
      values[step] = counts[step] === 1 ? column.values[step]! : Number.NaN;
    }
    if (budget.spend(grid.count)) await budget.yield();
  }
  return values;
}

async function vectorCall(invocation: Invocation): Promise<readonly Column[]> {
  const { call, context, grid } = invocation;
  const columns = columnsOf(invocation, 0);
  const ofFloat = floatFunctions[call.function];
  if (ofFloat !== undefined) return mapFloats(columns, ofFloat, context);
  const ofDate = dateFunctions[call.function];
  if (ofDate !== undefined) return mapFloats(call.arguments.length === 0 ? timeColumn(grid) : columns, ofDate, context);
  const ofHistogram = histogramFunctions[call.function];
  if (ofHistogram !== undefined) return mapHistograms(columns, ofHistogram, context);
  if (call.function.startsWith("sort")) return sort(invocation);
  if (call.function.startsWith("histogram_")) return estimateHistograms(invocation);
  return otherVectorCall(invocation);
}

async function mapFloats(
  columns: readonly Column[],
  compute: (value: number, step: number) => number,
  context: QueryContext,
): Promise<readonly Column[]> {
  const results: Column[] = [];
  for (const column of columns) {
    const { kinds, values } = column;
    context.budget.holdSamples(kinds.length);
    const result = newColumn(column.labels, true, kinds.length);
    for (let step = 0; step < kinds.length; step++) {
      if (kinds[step] === float) setFloat(result, step, compute(values[step]!, step));
    }
    results.push(result);
    if (context.budget.spend(2 * kinds.length)) await context.budget.yield();
  }
  return results;
}

/** The steps' times in whole seconds, without labels. */
function timeColumn(grid: Grid): readonly Column[] {
  const column = newColumn(emptyLabels, false, grid.count);
  for (let step = 0; step < grid.count; step++) setFloat(column, step, Math.trunc(timeAt(grid, step) / 1000));
  return [column];
}

function sort(invocation: Invocation): Promise<readonly Column[]> {
  const { call, context, grid } = invocation;
  if (grid.count > 1) context.annotations.warn(messages.sortInRange(), call.at);
  const columns = columnsOf(invocation, 0);
  const descending = call.function.endsWith("_desc");
  if (!call.function.startsWith("sort_by_label")) return sortByValue(columns, descending, context.budget);
  return sortByLabels(columns, { names: textsFrom(invocation, 1), descending }, context.budget);
}

function estimateHistograms(invocation: Invocation): Promise<readonly Column[]> {
  const { call, context, grid } = invocation;
  const positionOf = (index: number): Call["at"] => call.arguments[index]!.at;
  if (call.function === "histogram_quantile") {
    const options = { context, grid, at: positionOf(1), quantileAt: positionOf(0) };
    return quantileColumns(columnsOf(invocation, 1), scalarOf(invocation, 0), options);
  }
  if (call.function === "histogram_quantiles") {
    const quantiles = call.arguments.slice(2).map((argument, index) => ({
      values: scalarOf(invocation, index + 2),
      at: argument.at,
    }));
    const options = { context, grid, at: positionOf(0), quantileLabel: textOf(invocation, 1) };
    return manyQuantileColumns(columnsOf(invocation, 0), quantiles, options);
  }
  const limits = { lower: scalarOf(invocation, 0), upper: scalarOf(invocation, 1) };
  return fractionColumns(columnsOf(invocation, 2), limits, { context, grid, at: positionOf(2) });
}

async function otherVectorCall(invocation: Invocation): Promise<readonly Column[]> {
  const { call, context, grid } = invocation;
  const columns = columnsOf(invocation, 0);
  switch (call.function) {
    case "absent":
      return absentFrom(columns, call.arguments[0]!, { grid, context });
    case "vector":
      return [vectorOf(scalarOf(invocation, 0))];
    case "round": {
      const nearest = call.arguments.length > 1 ? scalarOf(invocation, 1) : undefined;
      return mapFloats(columns, (value, step) => roundTo(value, nearest?.[step] ?? 1), context);
    }
    case "clamp":
      return clamp(columns, { minimum: scalarOf(invocation, 1), maximum: scalarOf(invocation, 2), context });
    case "clamp_min":
      return clamp(columns, { minimum: scalarOf(invocation, 1), maximum: undefined, context });
    case "clamp_max":
      return clamp(columns, { minimum: undefined, maximum: scalarOf(invocation, 1), context });
    case "timestamp":
      return timestamps(columns, grid, context);
    case "label_replace":
      return replaceLabel(
        columns,
        {
          destination: textOf(invocation, 1),
          replacement: textOf(invocation, 2),
          source: textOf(invocation, 3),
          expression: textOf(invocation, 4),
        },
        context.budget,
      );
    case "label_join":
      return joinLabels(
        columns,
        {
          destination: textOf(invocation, 1),
          separator: textOf(invocation, 2),
          sources: textsFrom(invocation, 3),
        },
        context.budget,
      );
    default:
      // start_timestamp of anything but a selector: computed values have no start.
      return [];
  }
}

function vectorOf(values: Float64Array): Column {
  const column = newColumn(emptyLabels, false, values.length);
  column.kinds.fill(float);
  column.values.set(values);
  return column;
}

async function clamp(
  columns: readonly Column[],
  limits: { minimum: Float64Array | undefined; maximum: Float64Array | undefined; context: QueryContext },
): Promise<readonly Column[]> {
  const { context, maximum, minimum } = limits;
  const results: Column[] = [];
  for (const column of columns) {
    context.budget.holdSamples(column.kinds.length);
    const result = newColumn(column.labels, true, column.kinds.length);
    for (let step = 0; step < column.kinds.length; step++) {
      const lower = minimum?.[step] ?? -Infinity;
      const upper = maximum?.[step] ?? Infinity;
      if (column.kinds[step] !== float || upper < lower) continue;
      setFloat(result, step, clampTo(column.values[step]!, lower, upper));
    }
    results.push(result);
    if (context.budget.spend(column.kinds.length)) await context.budget.yield();
  }
  return results;
}

/** The steps' times, for values that have no time of their own. */
async function timestamps(
  columns: readonly Column[],
  grid: Grid,
  { budget }: QueryContext,
): Promise<readonly Column[]> {
  const results: Column[] = [];
  for (const column of columns) {
    budget.holdSamples(grid.count);
    const result = newColumn(column.labels, true, grid.count);
    for (let step = 0; step < grid.count; step++) {
      if (column.kinds[step] !== absent) setFloat(result, step, timeAt(grid, step) / 1000);
    }
    results.push(result);
    if (budget.spend(grid.count)) await budget.yield();
  }
  return results;
}

/** Metric queries: the tree above the range aggregations, over the columns that PromQL works with. */
import { aggregate } from "@sounding/promql/evaluate/aggregate";
import { chooseColumns } from "@sounding/promql/evaluate/aggregate-choice";
import { Annotations } from "@sounding/promql/evaluate/annotations";
import type { Budget } from "@sounding/promql/evaluate/budget";
import { operateOnScalars, operateWithScalar } from "@sounding/promql/evaluate/evaluate-binary";
import { float, newColumn, type Column } from "@sounding/promql/evaluate/grid";
import { matchVectors } from "@sounding/promql/evaluate/match-vectors";
import { applySetOperator } from "@sounding/promql/evaluate/set-operators";
import { replaceLabel, sortByValue } from "@sounding/promql/functions/label-functions";
import { emptyLabels } from "@sounding/promql/series/labels";
import type * as promql from "@sounding/promql/syntax/ast";
import { nowhere } from "@sounding/promql/syntax/source-range";
import type { BinaryExpression, MetricExpression, RangeAggregation, VectorAggregation } from "../syntax/ast.ts";
import { queryError } from "./limits.ts";

export type MetricValue =
  | { readonly type: "scalar"; readonly value: number }
  | { readonly type: "vector"; readonly columns: readonly Column[] };

export interface MetricContext {
  readonly budget: Budget;
  /** The number of steps. */
  readonly count: number;
  /** The values of the range aggregations, which are computed before the rest. */
  readonly ranges: ReadonlyMap<RangeAggregation, readonly Column[]>;
}

/** The expression's value at every step. */
export async function evaluateMetric(expression: MetricExpression, context: MetricContext): Promise<MetricValue> {
  const { budget } = context;
  budget.check();
  const { held } = budget;
  const value = await evaluateNode(expression, context);
  // From here on, only the value is in memory, not its operands. Range aggregations count where they were computed.
  const isCounted = value.type === "vector" && expression.kind !== "range-aggregation";
  budget.releaseDownTo(held + (isCounted ? value.columns.length * context.count : 0));
  return value;
}

async function evaluateNode(expression: MetricExpression, context: MetricContext): Promise<MetricValue> {
  switch (expression.kind) {
    case "number":
      return { type: "scalar", value: expression.value };
    case "vector":
      return { type: "vector", columns: [constantColumn(expression.value, context)] };
    case "range-aggregation":
      return { type: "vector", columns: context.ranges.get(expression)! };
    case "vector-aggregation":
      return { type: "vector", columns: await evaluateAggregation(expression, context) };
    case "binary":
      return evaluateBinary(expression, context);
    case "label-replace": {
      const { destination, regularExpression, replacement, source } = expression;
      const columns = await vectorOf(expression.expression, context);
      const options = { destination, replacement, source, expression: regularExpression, keepsDuplicates: true };
      return { type: "vector", columns: await replaceLabel(columns, options, context.budget) };
    }
  }
}

function constantColumn(value: number, { budget, count }: MetricContext): Column {
  budget.holdSamples(count);
  const column = newColumn(emptyLabels, false, count);
  column.kinds.fill(float);
  column.values.fill(value);
  return column;
}

async function vectorOf(expression: MetricExpression, context: MetricContext): Promise<readonly Column[]> {
  const value = await evaluateMetric(expression, context);
  return value.type === "vector" ? value.columns : [constantColumn(value.value, context)];
}

/** The tree that PromQL's functions read operators, groups and matching from. */
const operand: promql.Expression = { kind: "number", value: 0, isDuration: false, at: nowhere };

async function evaluateAggregation(
  { expression, grouping, operator, parameter }: VectorAggregation,
  context: MetricContext,
): Promise<readonly Column[]> {
  const { budget, count } = context;
  const columns = await vectorOf(expression, context);
  if (operator === "sort" || operator === "sort_desc") return sortByValue(columns, operator === "sort_desc", budget);
  const isChoice = operator === "topk" || operator === "bottomk" || operator === "approx_topk";
  const call = {
    aggregation: {
      kind: "aggregation",
      operator: operator === "approx_topk" ? "topk" : operator,
      expression: operand,
      parameter: isChoice ? operand : null,
      grouping: grouping?.labels ?? [],
      without: grouping?.without ?? false,
      at: nowhere,
    },
    context: { budget, annotations: new Annotations() },
    parameter: new Float64Array(isChoice ? count : 0).fill(parameter ?? 0),
  } as const;
  return isChoice ? chooseColumns(columns, call) : aggregate(columns, call);
}

async function evaluateBinary(node: BinaryExpression, context: MetricContext): Promise<MetricValue> {
  const left = await evaluateMetric(node.left, context);
  const right = await divisor(node, await evaluateMetric(node.right, context), context);
  const { budget, count } = context;
  const binary: promql.BinaryExpression = { ...node, left: operand, right: operand };
  const shared = { budget, annotations: new Annotations(), duplicates: duplicatesError };
  if (left.type === "scalar" && right.type === "scalar") {
    const [value] = operateOnScalars(binary, Float64Array.of(left.value), Float64Array.of(right.value));
    return { type: "scalar", value: value! };
  }
  if (left.type === "vector" && right.type === "vector") {
    const sides = { left: left.columns, right: right.columns, count };
    const isSet = node.operator === "and" || node.operator === "or" || node.operator === "unless";
    const columns = await (isSet ? applySetOperator : matchVectors)(binary, sides, shared);
    return { type: "vector", columns };
  }
  const scalarIsLeft = left.type === "scalar";
  const vector = left.type === "vector" ? left : right;
  const scalar = left.type === "scalar" ? left : right;
  if (vector.type !== "vector" || scalar.type !== "scalar") throw queryError("a set operator has a number as operand");
  const values = new Float64Array(count).fill(scalar.value);
  const sides = { columns: vector.columns, scalar: values, scalarIsLeft };
  return { type: "vector", columns: await operateWithScalar(binary, sides, shared) };
}

/** Divisors of zero become NaN, and so does what they divide: Loki has no infinite quotients of zero. */
async function divisor(
  { operator }: BinaryExpression,
  value: MetricValue,
  { budget, count }: MetricContext,
): Promise<MetricValue> {
  if (operator !== "/" && operator !== "%") return value;
  const toDivisor = (number: number): number => (number === 0 ? Number.NaN : number);
  if (value.type === "scalar") return { type: "scalar", value: toDivisor(value.value) };
  const columns: Column[] = [];
  for (const column of value.columns) {
    budget.holdSamples(count);
    columns.push({ ...column, values: column.values.map(toDivisor) });
    if (budget.spend(count)) await budget.yield();
  }
  return { type: "vector", columns };
}

function duplicatesError(side: "left" | "right"): Error {
  return queryError(
    `found duplicate series on the ${side} hand-side;many-to-many matching not allowed: ` +
      "matching labels must be unique on one side",
  );
}

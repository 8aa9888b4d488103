/** The results of metric queries in the form that callers get: a vector of an instant, a matrix of a range. */
import { workOfLabels, type Budget } from "@sounding/promql/evaluate/budget";
import { absent, float, type Column } from "@sounding/promql/evaluate/grid";
import { checkResultSize } from "@sounding/promql/evaluate/result-size";
import { sortInSlices } from "@sounding/promql/evaluate/sort-in-slices";
import type { MatrixSeries } from "@sounding/promql/query-value";
import { compareLabels, emptyLabels, type Labels } from "@sounding/promql/series/labels";
import type { LogqlValue } from "../query-result.ts";
import type { MetricExpression, VectorOperator } from "../syntax/ast.ts";
import { everyMetric } from "../syntax/children.ts";
import type { MetricValue } from "./metric-query.ts";
import { timestampsOf, type TimeGrid } from "./time-grid.ts";

/** Whether the result of an instant query keeps the order of its values. */
export function usesSort(expression: MetricExpression): boolean {
  return uses(expression, ["sort", "sort_desc"]);
}

export function usesApproximation(expression: MetricExpression): boolean {
  return uses(expression, ["approx_topk"]);
}

function uses(expression: MetricExpression, operators: readonly VectorOperator[]): boolean {
  for (const node of everyMetric(expression)) {
    if (node.kind === "vector-aggregation" && operators.includes(node.operator)) return true;
  }
  return false;
}

/** The samples of the only step. */
export async function vectorOf(columns: readonly Column[], isSorted: boolean, budget: Budget): Promise<LogqlValue> {
  const present = columns.filter(({ kinds }) => kinds[0] === float);
  const ordered = isSorted ? present : await sortInSlices(present, byLabels, budget);
  const samples = ordered.map(({ labels, values }) => ({ labels, value: values[0]!, histogram: null }));
  const value = { type: "vector", samples } as const;
  await checkResultSize(value, budget);
  return value;
}

function byLabels(left: { readonly labels: Labels }, right: { readonly labels: Labels }): number {
  return compareLabels(left.labels, right.labels);
}

/** The samples of all steps, series by series. */
export async function matrixOf(value: MetricValue, grid: TimeGrid, budget: Budget): Promise<LogqlValue> {
  const timestampsMs = timestampsOf(grid);
  const series: MatrixSeries[] = [];
  if (value.type === "scalar") {
    budget.holdSamples(grid.count);
    series.push(
      toSeries(
        emptyLabels,
        timestampsMs,
        timestampsMs.map(() => value.value),
      ),
    );
  } else {
    // Series that got equal labels, as of label_replace, are one in a matrix.
    for (const columns of Map.groupBy(value.columns, ({ labels }) => labels.key).values()) {
      budget.holdSamples(columns.length * grid.count);
      const one = join(columns, timestampsMs);
      if (one.values.length > 0) series.push(one);
      if (budget.spend(workOfLabels + columns.length * grid.count)) await budget.yield();
    }
  }
  const matrix = { type: "matrix", series: await sortInSlices(series, byLabels, budget) } as const;
  await checkResultSize(matrix, budget);
  return matrix;
}

function join(columns: readonly Column[], timestampsMs: Float64Array): MatrixSeries {
  const [first, ...others] = columns;
  const { kinds, labels, values } = first!;
  if (others.length === 0) {
    if (!kinds.includes(absent)) return toSeries(labels, timestampsMs, values);
    const isPresent = (_: number, step: number): boolean => kinds[step] === float;
    return toSeries(labels, timestampsMs.filter(isPresent), values.filter(isPresent));
  }
  const times: number[] = [];
  const joined: number[] = [];
  for (let step = 0; step < timestampsMs.length; step++) {
    for (const column of columns) {
      if (column.kinds[step] !== float) continue;
      times.push(timestampsMs[step]!);
      joined.push(column.values[step]!);
    }
  }
  return toSeries(labels, Float64Array.from(times), Float64Array.from(joined));
}

function toSeries(labels: Labels, timestampsMs: Float64Array, values: Float64Array): MatrixSeries {
  return { labels, timestampsMs, values, histogramTimestampsMs: new Float64Array(0), histograms: [] };
}

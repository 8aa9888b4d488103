/** What follows a metrics function: `| topk(5)`, `> 10`, `* 100`. */
import { workOfLabels, type Budget } from "@sounding/promql/evaluate/budget";
import { sortInSlices } from "@sounding/promql/evaluate/sort-in-slices";
import type { MetricsSecondStage } from "../syntax/ast.ts";
import { compareForChoice, type Series, type SeriesSet } from "./series.ts";

export async function applySecondStages(
  input: SeriesSet,
  stages: readonly MetricsSecondStage[],
  budget: Budget,
): Promise<SeriesSet> {
  let series = input;
  for (const stage of stages) {
    const samples = sizeOf(series);
    budget.holdSamples(samples);
    series = await applyStage(series, stage, budget);
    budget.releaseSamples(samples);
  }
  return series;
}

/** The values of all series together. */
export function sizeOf(series: SeriesSet): number {
  let size = 0;
  for (const { values } of series.values()) size += values.length;
  return size;
}

function applyStage(input: SeriesSet, stage: MetricsSecondStage, budget: Budget): Promise<SeriesSet> {
  switch (stage.kind) {
    case "metrics-choice":
      return choose(input, stage, budget);
    case "metrics-filter": {
      const holds = comparisons[stage.operator];
      return mapped(input, budget, (series) => filtered(series, (value) => holds(value, stage.value)));
    }
    case "metrics-scalar": {
      const { isLeft, operator, value: constant } = stage;
      return mapped(input, budget, (series) =>
        withValues(series, (value) =>
          isLeft ? calculateMetrics(operator, constant, value) : calculateMetrics(operator, value, constant),
        ),
      );
    }
  }
}

async function mapped(input: SeriesSet, budget: Budget, change: (series: Series) => Series | null): Promise<SeriesSet> {
  const output = new Map<string, Series>();
  for (const [key, series] of input) {
    if (budget.spend(workOfLabels + 3 * series.values.length)) await budget.yield();
    const changed = change(series);
    if (changed !== null) output.set(key, changed);
  }
  return output;
}

const comparisons: Readonly<Record<"=" | "!=" | "<" | "<=" | ">" | ">=", (left: number, right: number) => boolean>> = {
  "=": (left, right) => left === right,
  "!=": (left, right) => left !== right,
  "<": (left, right) => left < right,
  "<=": (left, right) => left <= right,
  ">": (left, right) => left > right,
  ">=": (left, right) => left >= right,
};

/** Null if no value is left. */
function filtered(series: Series, holds: (value: number) => boolean): Series | null {
  const values = series.values.map((value) => (holds(value) && !Number.isNaN(value) ? value : Number.NaN));
  if (values.every(Number.isNaN)) return null;
  return { ...series, values, exemplars: series.exemplars.filter(({ value }) => Number.isNaN(value) || holds(value)) };
}

function withValues(series: Series, change: (value: number) => number): Series {
  return {
    labels: series.labels,
    values: series.values.map(change),
    exemplars: series.exemplars.map((exemplar) => ({ ...exemplar, value: change(exemplar.value) })),
  };
}

/** Division by zero gives no value, as in Tempo. */
export function calculateMetrics(operator: "+" | "-" | "*" | "/", left: number, right: number): number {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return right === 0 ? Number.NaN : left / right;
  }
}

/** At each interval the series with the highest or lowest values. */
async function choose(
  input: SeriesSet,
  { count, operator }: { readonly count: number; readonly operator: "topk" | "bottomk" },
  budget: Budget,
): Promise<SeriesSet> {
  if (input.size <= count) return input;
  const sign = operator === "topk" ? -1 : 1;
  // Between equal values the order of labels decides, for bottomk the opposite one; it is the same at each interval.
  const ordered = await sortInSlices(
    [...input],
    ([, left], [, right]) => -sign * compareForChoice(left.labels, right.labels),
    budget,
  );
  const intervals = ordered[0]![1].values.length;
  const chosen = new Map<string, Series>();
  for (let interval = 0; interval < intervals; interval++) {
    if (budget.spend(ordered.length)) await budget.yield();
    const present = ordered.filter(([, { values }]) => !Number.isNaN(values[interval]!));
    const sorted = await sortInSlices(
      present,
      ([, left], [, right]) => sign * (left.values[interval]! - right.values[interval]!),
      budget,
    );
    for (const [key, series] of sorted.slice(0, count)) {
      const known = chosen.get(key) ?? { ...series, values: new Float64Array(intervals).fill(Number.NaN) };
      known.values[interval] = series.values[interval]!;
      chosen.set(key, known);
    }
  }
  return chosen;
}

/** Series that have the same labels become one, if no step has both. */
import type { Labels } from "../series/labels.ts";
import { dropLabels, metadataLabels } from "../series/labels.ts";
import { workOfLabels, type Budget } from "./budget.ts";
import { absent, copyStep, newColumn, relabelled, type Column } from "./grid.ts";
import { evaluationError } from "./query-context.ts";

/** The error where two series of one result have the same labels at the same time. */
export function sameLabelsError(): Error {
  return evaluationError("vector cannot contain metrics with the same labelset");
}

/** The columns with equal labels merged; throws where two have a value at the same step. */
export async function mergeColumns(columns: readonly Column[], budget: Budget): Promise<readonly Column[]> {
  const byLabels = new Map<string, Column>();
  const owned = new Set<Column>();
  for (const column of columns) {
    if (budget.spend(workOfLabels)) await budget.yield();
    const known = byLabels.get(column.labels.key);
    if (known === undefined) {
      byLabels.set(column.labels.key, column);
      continue;
    }
    let target = known;
    if (!owned.has(known)) {
      budget.holdSamples(known.kinds.length);
      target = copyOf(known);
      owned.add(target);
      byLabels.set(column.labels.key, target);
    }
    mergeInto(target, column);
    if (budget.spend(column.kinds.length)) await budget.yield();
  }
  return byLabels.size === columns.length ? columns : [...byLabels.values()];
}

function copyOf(column: Column): Column {
  return {
    ...column,
    kinds: column.kinds.slice(),
    values: column.values.slice(),
    histograms: column.histograms?.slice() ?? null,
  };
}

function mergeInto(target: Column, column: Column): void {
  for (let step = 0; step < column.kinds.length; step++) {
    if (column.kinds[step] === absent) continue;
    if (target.kinds[step] !== absent) throw sameLabelsError();
    copyStep(column, target, step);
  }
}

/** Removes the metric names that no longer apply; the last step of every query. */
export async function removeNames(columns: readonly Column[], budget: Budget): Promise<readonly Column[]> {
  const renamed: Column[] = [];
  const keys = new Set<string>();
  for (const column of columns) {
    const { dropName, labels } = column;
    const one = dropName ? relabelled(column, dropLabels(labels, metadataLabels), false) : column;
    renamed.push(one);
    keys.add(one.labels.key);
    if (budget.spend(workOfLabels)) await budget.yield();
  }
  return keys.size === renamed.length ? renamed : mergeColumns(renamed, budget);
}

/** Collects values into one column for each label set. */
export class ColumnCollector {
  readonly #columns = new Map<string, Column>();
  readonly #count: number;
  readonly #budget: Budget;

  constructor(count: number, budget: Budget) {
    this.#count = count;
    this.#budget = budget;
  }

  column(labels: Labels, dropName: boolean): Column {
    const known = this.#columns.get(labels.key);
    if (known !== undefined) return known;
    this.#budget.holdSamples(this.#count);
    this.#budget.checkSeries(this.#columns.size + 1, "the result of a function");
    const column = newColumn(labels, dropName, this.#count);
    this.#columns.set(labels.key, column);
    return column;
  }

  get columns(): readonly Column[] {
    return [...this.#columns.values()];
  }
}

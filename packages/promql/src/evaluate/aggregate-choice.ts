/** The aggregations that choose series from each group: topk, bottomk, limitk and limit_ratio. */
import { labelsHashShare } from "../series/labels-hash.ts";
import type { Aggregation } from "../syntax/ast.ts";
import { formatGeneral } from "../syntax/number-literal.ts";
import { messages } from "./annotations.ts";
import { absent, copyStep, float, histogram, isEmpty, newColumn, type Column } from "./grid.ts";
import { groupColumns, type Group } from "./grouping.ts";
import { evaluationError, type OperatorContext } from "./query-context.ts";
import { ValueHeap } from "./value-heap.ts";

interface ChoiceCall {
  readonly aggregation: Aggregation;
  readonly context: OperatorContext;
  /** k, or the ratio, at each step. */
  readonly parameter: Float64Array;
}

/** The chosen series with the steps at which they were chosen; an instant query's are in order. */
export async function chooseColumns(columns: readonly Column[], call: ChoiceCall): Promise<readonly Column[]> {
  const isRatio = call.aggregation.operator === "limit_ratio";
  if (!(isRatio ? checkRatios(call) : checkCounts(call))) return [];
  const { budget } = call.context;
  const results = new Map<Column, Column>();
  for (const group of await groupColumns(columns, call.aggregation, budget)) {
    for (let step = 0; step < call.parameter.length; step++) {
      for (const column of await choose(group, step, call)) {
        if (budget.spend(1)) await budget.yield();
        let result = results.get(column);
        if (result === undefined) {
          budget.holdSamples(column.kinds.length);
          result = newColumn(column.labels, column.dropName, column.kinds.length);
          results.set(column, result);
        }
        copyStep(column, result, step);
      }
      if (budget.spend(1)) await budget.yield();
    }
  }
  return [...results.values()].filter((column) => !isEmpty(column));
}

/** Whether k selects at least one series at any step. */
function checkCounts({ parameter }: ChoiceCall): boolean {
  const numbers = parameter.filter((k) => !Number.isNaN(k));
  const highest = numbers.reduce((most, k) => Math.max(most, k), -Infinity);
  if (numbers.length === parameter.length && highest < 1) return false;
  if (numbers.length < parameter.length) throw evaluationError("Parameter value is NaN");
  const lowest = numbers.reduce((least, k) => Math.min(least, k), Infinity);
  if (lowest <= -(2 ** 63)) throw evaluationError(`Scalar value ${formatGeneral(lowest)} underflows int64`);
  if (highest >= 2 ** 63) throw evaluationError(`Scalar value ${formatGeneral(highest)} overflows int64`);
  return true;
}

function checkRatios({ aggregation, context, parameter }: ChoiceCall): boolean {
  if (parameter.every((ratio) => ratio === 0)) return false;
  if (parameter.some(Number.isNaN)) throw evaluationError("Ratio value is NaN");
  const highest = parameter.reduce((most, ratio) => Math.max(most, ratio));
  const lowest = parameter.reduce((least, ratio) => Math.min(least, ratio));
  const warn = (ratio: number, capped: number): void =>
    context.annotations.warn(messages.invalidRatio(ratio, capped), aggregation.parameter!.at);
  if (highest > 1) warn(highest, 1);
  if (lowest < -1) warn(lowest, -1);
  return true;
}

/** The work of offering one value to a heap. */
const workOfOffer = 16;
/** The work of hashing the labels of a series. */
const workOfHash = 1024;

async function choose(group: Group, step: number, call: ChoiceCall): Promise<readonly Column[]> {
  const { operator } = call.aggregation;
  const { budget } = call.context;
  const parameter = call.parameter[step]!;
  if (operator === "limit_ratio") {
    const chosen: Column[] = [];
    for (const column of group.columns) {
      if (budget.spend(step === 0 ? workOfHash : 1)) await budget.yield();
      if (column.kinds[step] !== absent && isInRatio(column, parameter)) chosen.push(column);
    }
    return chosen;
  }
  const size = Math.trunc(parameter);
  if (size < 1) return [];
  if (operator === "limitk") {
    if (budget.spend(group.columns.length)) await budget.yield();
    return group.columns.filter((column) => column.kinds[step] !== absent).slice(0, size);
  }
  const heap = new ValueHeap<Column>(Math.min(size, group.columns.length), operator === "topk");
  for (const column of group.columns) {
    if (budget.spend(workOfOffer)) await budget.yield();
    if (column.kinds[step] === float) heap.offer(column.values[step]!, column);
    if (column.kinds[step] === histogram) {
      call.context.annotations.inform(messages.histogramIgnored(operator), call.aggregation.at);
    }
  }
  return heap.sorted(budget);
}

/** A positive ratio takes the series from the hash's lower end, a negative one the complement from the upper. */
function isInRatio(column: Column, ratio: number): boolean {
  const share = labelsHashShare(column.labels);
  return ratio >= 0 ? share < ratio : share >= 1 + Math.max(ratio, -1);
}

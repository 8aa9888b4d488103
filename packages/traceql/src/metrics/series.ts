/** Time series on the way to a result, and the labels that tell them apart. */
import { workOfLabels, type Budget } from "@sounding/promql/evaluate/budget";
import type { NamedValue } from "../spans/spanset.ts";
import { printValue } from "../spans/print-element.ts";
import { stringValue } from "../spans/static-value.ts";
import type { StaticValue } from "../syntax/ast.ts";

export interface Exemplar {
  readonly labels: readonly NamedValue[];
  /** NaN stands for the value of the series at that time. */
  readonly value: number;
  readonly unixNano: bigint;
}

export interface Series {
  /** Values are strings, ints, floats and booleans. */
  readonly labels: readonly NamedValue[];
  /** One for each interval; NaN where there is none. */
  readonly values: Float64Array;
  readonly exemplars: readonly Exemplar[];
}

/** By `seriesKey`. */
export type SeriesSet = ReadonlyMap<string, Series>;

/** Names a series without other labels after its function: `rate`. */
export const nameLabel = "__name__";

/** A value as labels have it: those that an answer has no type for become text. */
export function labelValue(value: StaticValue): StaticValue {
  switch (value.type) {
    case "string":
    case "int":
    case "float":
    case "boolean":
      return value;
    case "nil":
    case "duration":
    case "status":
    case "kind":
    case "array":
      return stringValue(printValue(value));
  }
}

/** Equal for series with the same labels; the name of a function is none of them. */
export function seriesKey(labels: readonly NamedValue[]): string {
  return labels
    .filter(({ name }) => name !== nameLabel)
    .map(({ name, value }) => JSON.stringify([name, value.type, printValue(value)]))
    .join();
}

export async function seriesSet(series: Iterable<Series>, budget: Budget): Promise<SeriesSet> {
  const set = new Map<string, Series>();
  for (const each of series) {
    if (budget.spend(workOfLabels)) await budget.yield();
    set.set(seriesKey(each.labels), each);
  }
  return set;
}

/** Types as Tempo orders them. */
const typeOrder: readonly StaticValue["type"][] = ["nil", "int", "float", "string", "boolean"];

/** Which of two series with the same value `topk` prefers, and `bottomk` does not: negative for the left one. */
export function compareForChoice(left: readonly NamedValue[], right: readonly NamedValue[]): number {
  const [leftLabels, rightLabels] = [left, right].map((labels) => labels.filter(({ name }) => name !== nameLabel));
  for (let index = 0; index < Math.max(leftLabels!.length, rightLabels!.length); index++) {
    const order = compareLabel(leftLabels![index], rightLabels![index]);
    if (order !== 0) return order;
  }
  return 0;
}

/** By text, name, type and number, as Tempo does; other types and larger numbers first. */
function compareLabel(left: NamedValue | undefined, right: NamedValue | undefined): number {
  const byText = compareText(textOf(left), textOf(right)) || compareText(left?.name ?? "", right?.name ?? "");
  if (byText !== 0) return byText;
  const [leftType, rightType] = [left, right].map((label) => typeOrder.indexOf(label?.value.type ?? "nil"));
  if (leftType !== rightType) return rightType! - leftType!;
  const [leftCode, rightCode] = [codeOf(left), codeOf(right)];
  if (leftCode === rightCode) return 0;
  return leftCode > rightCode ? -1 : 1;
}

function textOf(label: NamedValue | undefined): string {
  return label?.value.type === "string" ? label.value.value : "";
}

/** The 64 bits of a number. */
function codeOf(label: NamedValue | undefined): bigint {
  switch (label?.value.type) {
    case "int":
      return BigInt.asUintN(64, label.value.value);
    case "float":
      return new BigUint64Array(Float64Array.of(label.value.value).buffer)[0]!;
    case "boolean":
      return label.value.value ? 1n : 0n;
    default:
      return 0n;
  }
}

/** The order of series in a result: by number of labels, then by names and values. */
export function compareForResult(left: Series, right: Series): number {
  if (left.labels.length !== right.labels.length) return left.labels.length - right.labels.length;
  for (const [index, label] of left.labels.entries()) {
    const other = right.labels[index]!;
    const order =
      compareText(label.name, other.name) ||
      compareText(label.value.type, other.value.type) ||
      compareText(printValue(label.value), printValue(other.value));
    if (order !== 0) return order;
  }
  return 0;
}

function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** label_replace, label_join, and the sort functions: they work on series, not on values over time. */
import { inputLimit } from "../input-limit.ts";
import { compileGroupingExpression } from "../regex/regular-expression.ts";
import { workOfLabels, type Budget } from "../evaluate/budget.ts";
import { sortInSlices } from "../evaluate/sort-in-slices.ts";
import { absent, float, newColumn, copyStep, relabelled, type Column } from "../evaluate/grid.ts";
import { mergeColumns } from "../evaluate/merge-columns.ts";
import { evaluationError } from "../evaluate/query-context.ts";
import { compareLabels, compareText, getLabel, setLabels } from "../series/labels.ts";
import { isLabelName } from "../syntax/string-literal.ts";

export interface LabelReplacement {
  readonly destination: string;
  readonly replacement: string;
  readonly source: string;
  readonly expression: string;
  /** Series that get the same labels stay apart, as in LogQL. */
  readonly keepsDuplicates?: boolean | undefined;
}

/** Sets a label from what a regular expression matches in another one. */
export async function replaceLabel(
  columns: readonly Column[],
  options: LabelReplacement,
  budget: Budget,
): Promise<readonly Column[]> {
  const { destination, expression, replacement, source } = options;
  const compiled = compileGroupingExpression(expression);
  if ("problem" in compiled) {
    const seen = expression.length > shownCharacters ? `${expression.slice(0, shownCharacters)}…` : expression;
    const limit = compiled.isTooLarge ? `: ${compiled.problem}` : "";
    throw evaluationError(`invalid regular expression in label_replace(): ${seen}${limit}`);
  }
  if (!isLabelName(destination)) {
    throw evaluationError(`invalid destination label name in label_replace(): ${destination}`);
  }
  const template = parseTemplate(replacement);
  const groups = template.map((part) => (typeof part === "string" ? undefined : compiled.groupNumber(part.group)));
  const numbers = [...new Set(groups.filter((group) => group !== undefined))];
  const replaced: Column[] = [];
  for (const column of columns) {
    if (budget.spend(workOfReplacement)) await budget.yield();
    const text = getLabel(column.labels, source);
    const found = await compiled.groups(text, numbers, budget);
    if (found === undefined) {
      replaced.push(column);
      continue;
    }
    const value = template
      .map((part, index) => (typeof part === "string" ? part : (found[numbers.indexOf(groups[index]!)] ?? "")))
      .join("");
    replaced.push(withLabel(column, destination, value, budget));
  }
  return options.keepsDuplicates === true ? replaced : mergeColumns(replaced, budget);
}

/** The cost of matching groups in a short value and of creating labels, in samples. */
const workOfReplacement = 512;
/** Characters of an expression that an error shows. */
const shownCharacters = 200;
/** Characters of a value that label_replace and label_join may create. */
const maximumValueCharacters = inputLimit({
  area: "PromQL",
  bounds: "Length of a label value that label_replace or label_join creates",
  value: 65_536,
  unit: "characters",
  error: "invalid_request",
});

function withLabel(column: Column, name: string, value: string, budget: Budget): Column {
  if (value.length > maximumValueCharacters) {
    const limit = `the limit is ${maximumValueCharacters}`;
    throw evaluationError(`the new value of label ${name} has ${value.length} characters, ${limit}`);
  }
  budget.holdBytes(value.length * 2 + column.labels.key.length);
  const dropName = name === "__name__" ? false : column.dropName;
  return relabelled(column, setLabels(column.labels, new Map([[name, value]])), dropName);
}

/** Go's replacement template: `$1`, `${1}`, `$name`, `${name}`, and `$$` for a dollar sign. */
function parseTemplate(template: string): readonly (string | { readonly group: string })[] {
  const parts: (string | { group: string })[] = [];
  let end = 0;
  for (const match of template.matchAll(/\$(?:\$|(\w+)|\{(\w+)\})/g)) {
    parts.push(template.slice(end, match.index));
    const group = match[1] ?? match[2];
    parts.push(group === undefined ? "$" : { group });
    end = match.index + match[0].length;
  }
  parts.push(template.slice(end));
  return parts;
}

/** Sets a label to the values of others, joined. */
export async function joinLabels(
  columns: readonly Column[],
  { destination, separator, sources }: { destination: string; separator: string; sources: readonly string[] },
  budget: Budget,
): Promise<readonly Column[]> {
  const broken = sources.find((name) => !isLabelName(name));
  if (broken !== undefined) throw evaluationError(`invalid source label name in label_join(): ${broken}`);
  if (!isLabelName(destination)) {
    throw evaluationError(`invalid destination label name in label_join(): ${destination}`);
  }
  const joined: Column[] = [];
  for (const column of columns) {
    if (budget.spend(workOfLabels + sources.length)) await budget.yield();
    const value = sources.map((name) => getLabel(column.labels, name)).join(separator);
    joined.push(withLabel(column, destination, value, budget));
  }
  return mergeColumns(joined, budget);
}

/** By the value of the only step, NaN last; histograms are dropped. */
export async function sortByValue(
  columns: readonly Column[],
  descending: boolean,
  budget: Budget,
): Promise<readonly Column[]> {
  const floats: Column[] = [];
  for (const column of columns) {
    floats.push(...onlyFloats(column));
    if (budget.spend(column.histograms === null ? 1 : column.kinds.length)) await budget.yield();
  }
  if (floats[0]?.kinds.length !== 1) return floats;
  const compare = (left: Column, right: Column): number => {
    const leftValue = left.values[0]!;
    const rightValue = right.values[0]!;
    if (Number.isNaN(leftValue) || Number.isNaN(rightValue)) {
      return Number(Number.isNaN(leftValue)) - Number(Number.isNaN(rightValue));
    }
    const order = leftValue === rightValue ? 0 : leftValue < rightValue ? -1 : 1;
    return descending ? -order : order;
  };
  return sortInSlices(floats, compare, budget);
}

function onlyFloats(column: Column): Column[] {
  if (column.histograms === null) return [column];
  if (!column.kinds.includes(float)) return [];
  const result = newColumn(column.labels, column.dropName, column.kinds.length);
  for (let step = 0; step < column.kinds.length; step++) {
    if (column.kinds[step] !== absent && column.kinds[step] === float) copyStep(column, result, step);
  }
  return [result];
}

/** By the values of labels in natural order (`a2` before `a10`), then by all labels. */
export function sortByLabels(
  columns: readonly Column[],
  { descending, names }: { readonly names: readonly string[]; readonly descending: boolean },
  budget: Budget,
): Promise<readonly Column[]> {
  const sign = descending ? -1 : 1;
  const compare = (left: Column, right: Column): number => {
    for (const name of names) {
      const order = compareNaturally(getLabel(left.labels, name), getLabel(right.labels, name));
      if (order !== 0) return sign * order;
    }
    return sign * compareLabels(left.labels, right.labels);
  };
  return sortInSlices(columns, compare, budget);
}

/** Runs of digits compare as numbers, everything else as text. */
function compareNaturally(left: string, right: string): number {
  if (left === right) return 0;
  const leftChunks = left.match(/\d+|\D+/g) ?? [];
  const rightChunks = right.match(/\d+|\D+/g) ?? [];
  const shorter = Math.min(leftChunks.length, rightChunks.length);
  for (let index = 0; index < shorter; index++) {
    const leftChunk = leftChunks[index]!;
    const rightChunk = rightChunks[index]!;
    const areNumbers = /^\d/.test(leftChunk) && /^\d/.test(rightChunk);
    const order = areNumbers ? Number(leftChunk) - Number(rightChunk) : compareText(leftChunk, rightChunk);
    if (order !== 0) return order;
  }
  return leftChunks.length - rightChunks.length || compareText(left, right);
}

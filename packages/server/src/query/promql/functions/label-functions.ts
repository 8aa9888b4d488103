/** label_replace, label_join, and the sort functions: they look at series, not at values over time. */
import { absent, float, newColumn, copyStep, relabelled, type Column } from "../evaluate/grid.ts";
import { mergeColumns } from "../evaluate/merge-columns.ts";
import { evaluationError } from "../evaluate/query-context.ts";
import { compareLabels, compareText, getLabel, setLabels } from "../series/labels.ts";
import { compileRegularExpression } from "../series/matcher.ts";
import { isLabelName } from "../syntax/string-literal.ts";

export interface LabelReplacement {
  readonly destination: string;
  readonly replacement: string;
  readonly source: string;
  readonly expression: string;
}

/** Sets a label from what a regular expression finds in another one. */
export function replaceLabel(columns: readonly Column[], options: LabelReplacement): readonly Column[] {
  const { destination, expression, replacement, source } = options;
  const compiled = compileRegularExpression(expression);
  if ("problem" in compiled) {
    throw evaluationError(`invalid regular expression in label_replace(): ${expression}`);
  }
  if (!isLabelName(destination)) {
    throw evaluationError(`invalid destination label name in label_replace(): ${destination}`);
  }
  const template = parseTemplate(replacement);
  return mergeColumns(
    columns.map((column) => {
      const matcher = compiled.pattern.matcher(getLabel(column.labels, source));
      if (!matcher.matches()) return column;
      const group = (name: string): string => {
        if (/^\d+$/.test(name)) return Number(name) <= matcher.groupCount() ? (matcher.group(Number(name)) ?? "") : "";
        return matcher.getNamedGroups()[name] ?? "";
      };
      const value = template.map((part) => (typeof part === "string" ? part : group(part.group))).join("");
      return withLabel(column, destination, value);
    }),
  );
}

function withLabel(column: Column, name: string, value: string): Column {
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
export function joinLabels(
  columns: readonly Column[],
  { destination, separator, sources }: { destination: string; separator: string; sources: readonly string[] },
): readonly Column[] {
  const broken = sources.find((name) => !isLabelName(name));
  if (broken !== undefined) throw evaluationError(`invalid source label name in label_join(): ${broken}`);
  if (!isLabelName(destination)) {
    throw evaluationError(`invalid destination label name in label_join(): ${destination}`);
  }
  return mergeColumns(
    columns.map((column) => {
      const value = sources.map((name) => getLabel(column.labels, name)).join(separator);
      return withLabel(column, destination, value);
    }),
  );
}

/** By the value of the only step, NaN last; histograms are left out. */
export function sortByValue(columns: readonly Column[], descending: boolean): readonly Column[] {
  const floats = columns.flatMap((column) => onlyFloats(column));
  if (floats[0]?.kinds.length !== 1) return floats;
  return floats.toSorted((left, right) => {
    const leftValue = left.values[0]!;
    const rightValue = right.values[0]!;
    if (Number.isNaN(leftValue) || Number.isNaN(rightValue)) {
      return Number(Number.isNaN(leftValue)) - Number(Number.isNaN(rightValue));
    }
    const order = leftValue === rightValue ? 0 : leftValue < rightValue ? -1 : 1;
    return descending ? -order : order;
  });
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
  names: readonly string[],
  descending: boolean,
): readonly Column[] {
  const sign = descending ? -1 : 1;
  return columns.toSorted((left, right) => {
    for (const name of names) {
      const order = compareNaturally(getLabel(left.labels, name), getLabel(right.labels, name));
      if (order !== 0) return sign * order;
    }
    return sign * compareLabels(left.labels, right.labels);
  });
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

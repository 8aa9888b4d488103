/**
 * The notation of series in Prometheus' test scripts: `metric{label="value"} 1+2x3 _ stale {{schema:1 …}}`.
 * https://prometheus.io/docs/prometheus/latest/configuration/unit_testing_rules/#series
 */
import { markStale } from "../../src/storage.ts";
import { labelsFrom, type Labels } from "../../src/series/labels.ts";
import { tokenize } from "../../src/syntax/lexer.ts";
import { parseNumber } from "../../src/syntax/number-literal.ts";
import { parseDuration } from "../../src/syntax/duration.ts";
import { unquoteString } from "../../src/syntax/string-literal.ts";
import type { FloatHistogram } from "../../src/histogram/float-histogram.ts";
import { addHistograms, subtractHistograms } from "../../src/histogram/histogram-arithmetic.ts";
import { parseHistogram } from "./histogram-notation.ts";

/** One value of a sequence. */
export interface SequenceValue {
  /** No sample here. */
  readonly omitted: boolean;
  readonly stale: boolean;
  readonly value: number;
  readonly histogram: FloatHistogram | null;
  /** The histogram's hint about counter resets was explicit, so it is compared. */
  readonly hasHint: boolean;
}

export interface SeriesLine {
  readonly labels: Labels;
  readonly values: readonly SequenceValue[];
}

/** A line that cannot be read. */
export class NotationError extends Error {}

/** The labels and the values of a line. */
export function parseSeriesLine(line: string): SeriesLine {
  const end = metricEnd(line);
  return { labels: parseMetric(line.slice(0, end)), values: parseValues(line.slice(end).trim()) };
}

/** Where the metric of a line ends: after its braces, or at the first space if it has none. */
export function metricEnd(line: string): number {
  const name = /^[\w:]*/.exec(line)![0].length;
  if (line[name] !== "{") return name;
  let quote = "";
  for (let index = name + 1; index < line.length; index++) {
    const character = line[index]!;
    if (quote !== "") {
      if (character === "\\" && quote !== "`") index++;
      else if (character === quote) quote = "";
    } else if (character === '"' || character === "'" || character === "`") {
      quote = character;
    } else if (character === "}") {
      return index + 1;
    }
  }
  throw new NotationError(`the metric has no end: ${line}`);
}

/** `metric{label="value"}` as labels. */
export function parseMetric(text: string): Labels {
  const tokens = [...tokenize(text)];
  const entries: [string, string][] = [];
  let index = 0;
  if (tokens[0]!.kind !== "sign" && tokens[0]!.kind !== "end") {
    entries.push(["__name__", text.slice(tokens[0]!.start, tokens[0]!.end)]);
    index++;
  }
  for (; index < tokens.length; index++) {
    const token = tokens[index]!;
    if (token.kind !== "identifier" && token.kind !== "string") continue;
    const name = token.kind === "string" ? unquoteString(token.text)! : token.text;
    if (tokens[index + 1]!.text !== "=") {
      entries.push(["__name__", name]);
      continue;
    }
    const value = unquoteString(tokens[index + 2]!.text);
    if (tokens[index + 2]!.kind !== "string" || value === undefined) {
      throw new NotationError(`label ${name} has no value: ${text}`);
    }
    entries.push([name, value]);
    index += 2;
  }
  return labelsFrom(entries);
}

const omittedValue: SequenceValue = { omitted: true, stale: false, value: 0, histogram: null, hasHint: false };

function floatValue(value: number): SequenceValue {
  return { ...omittedValue, omitted: false, value };
}

/** A sequence such as `1 2+3x4 _x2 stale`. */
export function parseValues(text: string): SequenceValue[] {
  const items = text.match(/(?:\{\{.*?\}\}|[^\s{])+/g) ?? [];
  return items.flatMap(parseItem);
}

function parseItem(item: string): SequenceValue[] {
  const blank = /^_(?:x(\d+))?$/.exec(item);
  if (blank !== null) return Array.from({ length: Number(blank[1] ?? 1) }, () => omittedValue);
  if (item.startsWith("{{")) return parseHistogramItem(item);
  const match =
    /^(stale|[+-]?(?:inf|nan|[\d.][\d.a-z]*?(?:e[+-]?\d+)?))(?:([+-](?:inf|nan|[\d.][\d.a-z]*?(?:e[+-]?\d+)?)))?(?:x(\d+))?$/i.exec(
      item,
    );
  if (match === null) throw new NotationError(`not a value: ${item}`);
  const times = match[3] === undefined ? 0 : Number(match[3]);
  if (match[1] === "stale")
    return Array.from({ length: times + 1 }, () => ({ ...omittedValue, omitted: false, stale: true }));
  const step = match[2] === undefined ? 0 : numberOf(match[2]);
  const values: SequenceValue[] = [];
  let value = numberOf(match[1]!);
  for (let count = 0; count <= times; count++) {
    values.push(floatValue(value));
    if (match[2] !== undefined) value += step;
  }
  return values;
}

function numberOf(text: string): number {
  const number = parseNumber(text);
  if (number !== undefined) return number;
  const sign = text.startsWith("-") ? -1 : 1;
  const duration = parseDuration(text.replace(/^[+-]/, ""));
  if ("ms" in duration) return (sign * duration.ms) / 1000;
  throw new NotationError(`not a number: ${text}`);
}

function parseHistogramItem(item: string): SequenceValue[] {
  const match = /^(\{\{.*?\}\})(?:([+-])(\{\{.*?\}\}))?(?:x(\d+))?$/.exec(item);
  if (match === null) throw new NotationError(`not a histogram: ${item}`);
  const first = parseHistogram(match[1]!);
  const change = match[3] === undefined ? null : parseHistogram(match[3]);
  const combine = match[2] === "-" ? subtractHistograms : addHistograms;
  const { hasHint } = change ?? first;
  const values: SequenceValue[] = [];
  let { histogram } = first;
  for (let count = 0; count <= Number(match[4] ?? 0); count++) {
    values.push({ ...omittedValue, omitted: false, histogram, hasHint });
    if (change === null) continue;
    if (histogram.schema > change.histogram.schema) {
      throw new NotationError(
        `error combining histograms: cannot merge from schema ${change.histogram.schema} to ${histogram.schema}`,
      );
    }
    const combined = combine(histogram, change.histogram);
    if (combined === undefined) throw new NotationError(`histograms do not fit together: ${item}`);
    histogram = combined.result;
  }
  return values;
}

/** The values' floats as a column, including stale markers. */
export function toColumn(values: readonly SequenceValue[]): Float64Array {
  const column = Float64Array.from(values, ({ value }) => value);
  for (const [index, { stale }] of values.entries()) {
    if (stale) markStale(column, index);
  }
  return column;
}

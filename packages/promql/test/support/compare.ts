/** Compares a query's answer with what a script expects, up to a relative difference of one in a million. */
import type { QueryResult } from "../../src/engine.ts";
import type { MatrixSeries, QueryValue, VectorSample } from "../../src/query-value.ts";
import { almostEqual } from "../../src/functions/classic-histogram.ts";
import { compactHistogram, equalNumbers, type FloatHistogram } from "../../src/histogram/float-histogram.ts";
import { compareLabels, printLabels } from "../../src/series/labels.ts";
import { formatGeneral } from "../../src/syntax/number-literal.ts";
import { printNotation } from "./histogram-notation.ts";
import type { EvalCommand, Expectation } from "./script.ts";
import type { SequenceValue, SeriesLine } from "./series-notation.ts";

const tolerance = 1e-6;

/** What is wrong with the value, or undefined. */
export function valueProblem(command: EvalCommand, value: QueryValue): string | undefined {
  switch (value.type) {
    case "string":
      return command.text === value.value
        ? undefined
        : `expected string ${JSON.stringify(command.text)}, got ${JSON.stringify(value.value)}`;
    case "scalar":
      if (command.scalar === null) return `expected a vector or matrix, got the scalar ${value.value}`;
      return almostEqual(command.scalar, value.value, tolerance)
        ? undefined
        : `expected scalar ${command.scalar}, got ${value.value}`;
    case "vector":
      return command.scalar === null ? vectorProblem(command, value.samples) : "expected a scalar, got a vector";
    case "matrix":
      return command.scalar === null ? matrixProblem(command, value.series) : "expected a scalar, got a matrix";
  }
}

function expectedByLabels(command: EvalCommand): Map<string, { line: SeriesLine; position: number }> {
  return new Map(command.series.map((line, position) => [line.labels.key, { line, position }]));
}

function vectorProblem(command: EvalCommand, samples: readonly VectorSample[]): string | undefined {
  const expected = expectedByLabels(command);
  const isOrdered = command.expectations.some(({ kind }) => kind === "ordered");
  for (const [position, { labels, value, histogram }] of samples.entries()) {
    const wanted = expected.get(labels.key);
    const seen = printSample(value, histogram);
    if (wanted === undefined) return `unexpected series ${printLabels(labels)} with ${seen}`;
    if (isOrdered && wanted.position !== position) {
      return `expected ${printLabels(labels)} at position ${wanted.position + 1}, it is at ${position + 1}`;
    }
    const problem = sampleProblem(wanted.line.values[0]!, value, histogram);
    if (problem !== undefined) return `${printLabels(labels)}: ${problem}`;
  }
  return missingProblem(
    expected,
    samples.map(({ labels }) => labels.key),
  );
}

function missingProblem(
  expected: ReadonlyMap<string, { line: SeriesLine }>,
  seen: readonly string[],
): string | undefined {
  const keys = new Set(seen);
  for (const [key, { line }] of expected) {
    if (!keys.has(key)) return `expected series ${printLabels(line.labels)}, it is not there`;
  }
  return undefined;
}

function printSample(value: number, histogram: FloatHistogram | null): string {
  return histogram === null ? formatGeneral(value) : printNotation(histogram);
}

function sampleProblem(wanted: SequenceValue, value: number, histogram: FloatHistogram | null): string | undefined {
  const isEqual =
    wanted.histogram === null
      ? histogram === null && almostEqual(wanted.value, value, tolerance)
      : histogram !== null && sameHistogram(wanted.histogram, histogram, wanted.hasHint);
  if (isEqual) return undefined;
  return `expected ${printSample(wanted.value, wanted.histogram)}, got ${printSample(value, histogram)}`;
}

function sameHistogram(wanted: FloatHistogram, seen: FloatHistogram, withHint: boolean): boolean {
  const left = compactHistogram(wanted);
  const right = compactHistogram(seen);
  const near = (one: number, other: number): boolean => almostEqual(one, other, tolerance);
  const nearAll = (one: readonly number[], other: readonly number[]): boolean =>
    one.length === other.length && one.every((value, index) => near(value, other[index]!));
  return (
    left.schema === right.schema &&
    near(left.count, right.count) &&
    near(left.sum, right.sum) &&
    left.zeroThreshold === right.zeroThreshold &&
    near(left.zeroCount, right.zeroCount) &&
    equalNumbers(left.customValues, right.customValues) &&
    equalNumbers(left.positive.indexes, right.positive.indexes) &&
    equalNumbers(left.negative.indexes, right.negative.indexes) &&
    nearAll(left.positive.counts, right.positive.counts) &&
    nearAll(left.negative.counts, right.negative.counts) &&
    (!withHint || left.counterResetHint === right.counterResetHint)
  );
}

function matrixProblem(command: EvalCommand, series: readonly MatrixSeries[]): string | undefined {
  if (command.expectations.some(({ kind }) => kind === "ordered")) return "expected an ordered vector, got a matrix";
  const times = command.matrix ?? command;
  const expected = expectedByLabels(command);
  for (const [index, one] of series.entries()) {
    const next = series[index + 1];
    if (next !== undefined && compareLabels(one.labels, next.labels) > 0) return "the matrix is not sorted by labels";
    const wanted = expected.get(one.labels.key);
    if (wanted === undefined) return `unexpected series ${printLabels(one.labels)} with ${printSeries(one)}`;
    const problem = seriesProblem(wanted.line, one, times);
    if (problem !== undefined) return `${printLabels(one.labels)}: ${problem}, the series has ${printSeries(one)}`;
  }
  return missingProblem(
    expected,
    series.map(({ labels }) => labels.key),
  );
}

function seriesProblem(
  line: SeriesLine,
  series: MatrixSeries,
  times: { startMs: number; endMs: number; stepMs: number },
): string | undefined {
  const floats: number[] = [];
  const histograms: number[] = [];
  for (const [index, { omitted, histogram }] of line.values.entries()) {
    if (times.startMs + index * times.stepMs > times.endMs) return `more points expected than the range has`;
    if (!omitted) (histogram === null ? floats : histograms).push(index);
  }
  if (floats.length !== series.values.length || histograms.length !== series.histograms.length) {
    return `expected ${floats.length} floats and ${histograms.length} histograms`;
  }
  const checks = [
    ...floats.map((index, position) => ({
      index,
      timeMs: series.timestampsMs[position]!,
      value: series.values[position]!,
      histogram: null,
    })),
    ...histograms.map((index, position) => ({
      index,
      timeMs: series.histogramTimestampsMs[position]!,
      value: 0,
      histogram: series.histograms[position]!,
    })),
  ];
  for (const { index, timeMs, value, histogram } of checks) {
    const wantedMs = times.startMs + index * times.stepMs;
    if (timeMs !== wantedMs) return `expected a point at ${wantedMs} ms, it is at ${timeMs} ms`;
    const problem = sampleProblem(line.values[index]!, value, histogram);
    if (problem !== undefined) return `${problem} at ${timeMs} ms`;
  }
  return undefined;
}

function printSeries(series: MatrixSeries): string {
  const floats = [...series.values].map((value, index) => `${formatGeneral(value)} @${series.timestampsMs[index]}`);
  const histograms = series.histograms.map(
    (value, index) => `${printNotation(value)} @${series.histogramTimestampsMs[index]}`,
  );
  return [...floats, ...histograms].join(", ");
}

/** What is wrong with the annotations, or undefined. */
export function annotationProblem(command: EvalCommand, result: QueryResult): string | undefined {
  return (
    severityProblem(command.expectations, { kind: "warn", none: "no_warn", seen: result.warnings }) ??
    severityProblem(command.expectations, { kind: "info", none: "no_info", seen: result.infos })
  );
}

function severityProblem(
  expectations: readonly Expectation[],
  { kind, none, seen }: { kind: Expectation["kind"]; none: Expectation["kind"]; seen: readonly string[] },
): string | undefined {
  const wanted = expectations.filter((expectation) => expectation.kind === kind);
  if (expectations.some((expectation) => expectation.kind === none) && seen.length > 0) {
    return `expected ${none}, got ${seen.join("; ")}`;
  }
  if (wanted.length === 0) return undefined;
  const unmet = wanted.find((expectation) => !seen.some((text) => meets(expectation, text)));
  if (unmet !== undefined) return `expected ${kind} ${describe(unmet)}, got ${seen.join("; ") || "none"}`;
  const surplus = seen.find((text) => !wanted.some((expectation) => meets(expectation, text)));
  return surplus === undefined ? undefined : `unexpected ${kind} ${surplus}`;
}

/** Whether a message is what was expected. */
export function meets({ text, pattern }: Expectation, seen: string): boolean {
  if (text !== undefined) return text === seen;
  return pattern === undefined || pattern.matcher(seen).find();
}

export function describe({ text, pattern }: Expectation): string {
  return text ?? pattern?.pattern() ?? "of any kind";
}

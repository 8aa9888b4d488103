/** Compares a query's result with what a script expects, up to a relative difference of one in a thousand million. */
import type { LogqlValue } from "../../src/query-result.ts";
import { entriesOf, type Labels } from "@sounding/promql/series/labels";
import { keyOfLabels } from "./notation.ts";
import type { EvalCommand, ExpectedSeries } from "./script.ts";

const tolerance = 1e-9;
const nanosPerMilli = 1_000_000n;

/** What is wrong with the value, or undefined. */
export function valueProblem(command: EvalCommand, value: LogqlValue): string | undefined {
  const { expected } = command;
  if (expected.kind === "failure") return "expected the query to fail";
  if (value.type === "streams") return "expected samples, got log entries";
  if (value.type === "scalar") {
    if (expected.kind !== "scalar") return `expected series, got the scalar ${value.value}`;
    return isNear(expected.value, value.value) ? undefined : `expected scalar ${expected.value}, got ${value.value}`;
  }
  if (expected.kind === "scalar") return `expected a scalar, got a ${value.type}`;
  const seen = seriesOf(command, value);
  if (typeof seen === "string") return seen;
  if (expected.kind === "empty")
    return seen.length === 0 ? undefined : `expected no series, got ${seen.map(print).join("; ")}`;
  return seriesProblem(expected.series, seen) ?? (expected.ordered ? orderProblem(expected.series, seen) : undefined);
}

function keyOf(labels: Labels): string {
  return keyOfLabels([...entriesOf(labels)]);
}

/** The result's series with a value, or undefined, for each step of the query. */
function seriesOf(
  { endUnixNano, startUnixNano, stepNano }: EvalCommand,
  value: Exclude<LogqlValue, { type: "streams" } | { type: "scalar" }>,
): readonly ExpectedSeries[] | string {
  if (value.type === "vector") {
    return value.samples.map(({ labels, value: sample }) => ({ key: keyOf(labels), values: [sample] }));
  }
  const steps: bigint[] = [];
  for (let time = startUnixNano; time <= endUnixNano; time += stepNano) steps.push(time / nanosPerMilli);
  const result: ExpectedSeries[] = [];
  for (const { labels, timestampsMs, values } of value.series) {
    const byTime = new Map([...timestampsMs].map((time, index) => [BigInt(time), values[index]!]));
    const misplaced = [...byTime.keys()].find((time) => !steps.includes(time));
    if (misplaced !== undefined) return `${keyOf(labels)} has a point at ${misplaced} ms, which is no step`;
    result.push({ key: keyOf(labels), values: steps.map((time) => byTime.get(time)) });
  }
  return result;
}

function print({ key, values }: ExpectedSeries): string {
  return `${key} ${values.map((value) => value ?? "_").join(" ")}`;
}

function seriesProblem(expected: readonly ExpectedSeries[], seen: readonly ExpectedSeries[]): string | undefined {
  const byKey = new Map(seen.map((one) => [one.key, one]));
  if (byKey.size < seen.length) return `two series with the same labels: ${seen.map(print).join("; ")}`;
  for (const wanted of expected) {
    const found = byKey.get(wanted.key);
    if (found === undefined) return `expected ${print(wanted)}, got ${seen.map(print).join("; ") || "no series"}`;
    const isEqual =
      wanted.values.length === found.values.length &&
      wanted.values.every((value, index) => isNear(value, found.values[index]));
    if (!isEqual) return `expected ${print(wanted)}, got ${print(found)}`;
    byKey.delete(wanted.key);
  }
  return byKey.size === 0 ? undefined : `unexpected series ${[...byKey.values()].map(print).join("; ")}`;
}

function orderProblem(expected: readonly ExpectedSeries[], seen: readonly ExpectedSeries[]): string | undefined {
  const isOrdered = expected.every(({ key }, index) => seen[index]!.key === key);
  return isOrdered ? undefined : `the series are in another order: ${seen.map(print).join("; ")}`;
}

function isNear(wanted: number | undefined, seen: number | undefined): boolean {
  if (wanted === undefined || seen === undefined) return wanted === seen;
  if (Number.isNaN(wanted) || !Number.isFinite(wanted) || Number.isNaN(seen)) return Object.is(wanted, seen);
  const difference = Math.abs(wanted - seen);
  return difference <= tolerance || difference <= tolerance * Math.max(Math.abs(wanted), Math.abs(seen));
}

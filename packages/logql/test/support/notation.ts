/** The notation of labels and samples in LogQL test scripts. */
import { unquoteString } from "@sounding/promql/syntax/string-literal";
import { parseNumber } from "@sounding/promql/syntax/number-literal";
import { parseNanoseconds } from "../../src/syntax/quantity.ts";

/** A line of a script that cannot be read. */
export class NotationError extends Error {}

export type LabelPairs = readonly (readonly [name: string, value: string])[];

/** Labels in braces at the start of a line, and what follows them. A label may have an empty value. */
export function takeLabels(line: string): { labels: LabelPairs; rest: string } {
  const labels: [string, string][] = [];
  const label = /\s*(?:([A-Za-z_]\w*)|("(?:[^"\\]|\\.)*"))\s*=\s*("(?:[^"\\]|\\.)*"|`[^`]*`)\s*,?/y;
  if (!line.startsWith("{")) throw new NotationError(`expected labels in braces: ${line}`);
  label.lastIndex = 1;
  let end = 1;
  for (let match = label.exec(line); match !== null; match = label.exec(line)) {
    labels.push([match[1] ?? unquoted(match[2]!), unquoted(match[3]!)]);
    end = label.lastIndex;
  }
  const close = /^\s*\}/.exec(line.slice(end));
  if (close === null) throw new NotationError(`the labels cannot be read: ${line}`);
  return { labels, rest: line.slice(end + close[0].length) };
}

function unquoted(literal: string): string {
  const value = unquoteString(literal);
  if (value === undefined) throw new NotationError(`invalid string ${literal}`);
  return value;
}

/** Equal for equal labels in any order. */
export function keyOfLabels(labels: LabelPairs): string {
  const sorted = labels.map(([name, value]) => `${name}=${JSON.stringify(value)}`).sort();
  return `{${sorted.join(", ")}}`;
}

/** The values at the steps; undefined: no sample. `1+2x3` is 1, 3, 5, 7. */
export function parseSamples(text: string): readonly (number | undefined)[] {
  return text.trim().split(/\s+/).flatMap(parseSample);
}

function parseSample(text: string): readonly (number | undefined)[] {
  if (text === "_") return [undefined];
  const row = /^(?<first>.+?)(?:(?<step>[+-][\d.]+))?x(?<count>\d+)$/.exec(text)?.groups;
  if (row === undefined) return [parseValue(text)];
  const first = parseValue(row["first"]!);
  const step = parseValue(row["step"] ?? "0");
  return Array.from({ length: Number(row["count"]) + 1 }, (_, index) => first + index * step);
}

/** A number as scripts write it. */
export function parseValue(text: string): number {
  const value = parseNumber(text);
  if (value === undefined) throw new NotationError(`invalid number ${JSON.stringify(text)}`);
  return value;
}

/** A duration such as `1m30s`, in nanoseconds. */
export function parseTime(text: string): bigint {
  const nanoseconds = parseNanoseconds(text);
  if (nanoseconds === undefined) throw new NotationError(`invalid duration ${JSON.stringify(text)}`);
  return BigInt(nanoseconds);
}

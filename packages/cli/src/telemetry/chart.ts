/** Draws one series as bars over time, with axes: values on the left, times below. */
import { padToWidth, widthOf } from "../terminal/text-width.ts";
import { formatTime, type TimeOptions } from "../terminal/times.ts";

const bars = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const height = 6;
/** Also where there is no terminal, so that a chart can be pasted. */
const defaultWidth = 100;
const widestBar = 4;

/** What the charts of one query share, so that they can be compared. */
export interface TimeAxis {
  /** UNIX seconds of the first value, and the distance between values. */
  readonly start: number;
  readonly step: number;
  readonly count: number;
}

/** The axis over all values. */
export function timeAxisOf(times: readonly number[]): TimeAxis {
  const sorted = [...new Set(times)].sort((left, right) => left - right);
  const start = sorted[0] ?? 0;
  const distances = sorted.slice(1).map((time, index) => time - sorted[index]!);
  const step = distances.length === 0 ? 1 : Math.min(...distances);
  return { start, step, count: Math.round(((sorted.at(-1) ?? start) - start) / step) + 1 };
}

/** The values at each step of the axis; NaN where there is none. */
export function valuesOnAxis(values: readonly (readonly [number, string])[], axis: TimeAxis): number[] {
  const placed = Array.from({ length: axis.count }, () => Number.NaN);
  for (const [time, text] of values) placed[Math.round((time - axis.start) / axis.step)] = Number(text);
  return placed;
}

export interface ChartOptions extends TimeOptions {
  readonly width: number | undefined;
  readonly format: (value: number) => string;
  /** Colors a line of bars. */
  readonly paint: (text: string) => string;
}

/** The lines of a chart. */
export function drawChart(values: readonly number[], axis: TimeAxis, options: ChartOptions): string[] {
  const finite = values.filter((value) => Number.isFinite(value));
  const lowest = Math.min(0, ...finite);
  const highest = Math.max(lowest === 0 ? 0 : lowest, ...finite);
  const labels = Array.from({ length: height }, (_, row) =>
    row === 0 ? options.format(highest) : row === height - 1 ? options.format(lowest) : "",
  );
  const labelWidth = Math.max(...labels.map(widthOf));
  const room = Math.max(8, (options.width ?? defaultWidth) - labelWidth - 3);
  const columns = toColumns(values, room);
  const rows = labels.map((label, row) => {
    const line = columns.map((value) => barPart(value, { lowest, highest, row })).join("");
    return `${padToWidth(label, labelWidth, "right")} ┤${options.paint(line.trimEnd())}`;
  });
  const margin = " ".repeat(labelWidth + 1);
  return [...rows, `${margin}└${"─".repeat(columns.length)}`, `${margin} ${timeLabels(axis, columns.length, options)}`];
}

/** A column of the terminal for each value, several for few values; of many values, the greatest of each column. */
function toColumns(values: readonly number[], room: number): number[] {
  const width = Math.floor(room / values.length);
  if (width >= 1) return values.flatMap((value) => Array.from({ length: Math.min(width, widestBar) }, () => value));
  return Array.from({ length: room }, (_, column) => {
    const from = Math.floor((column * values.length) / room);
    const part = values.slice(from, Math.max(from + 1, Math.floor(((column + 1) * values.length) / room)));
    const finite = part.filter((value) => Number.isFinite(value));
    return finite.length === 0 ? Number.NaN : Math.max(...finite);
  });
}

/** The part of a bar in one row, counted from the top. */
function barPart(
  value: number,
  { lowest, highest, row }: { readonly lowest: number; readonly highest: number; readonly row: number },
): string {
  if (!Number.isFinite(value)) return " ";
  const steps = height * (bars.length - 1);
  // A value that is there is visible, however small.
  const filled = highest === lowest ? 1 : Math.max(1, Math.round(((value - lowest) / (highest - lowest)) * steps));
  const inRow = filled - (height - 1 - row) * (bars.length - 1);
  return bars[Math.max(0, Math.min(bars.length - 1, inRow))]!;
}

const secondsPerDay = 86_400;

/** The time at the start, in the middle and at the end, as far as they fit. */
function timeLabels({ start, step, count }: TimeAxis, width: number, times: TimeOptions): string {
  const end = start + step * (count - 1);
  const label = (seconds: number): string => {
    const shown = formatTime(seconds * 1000, times);
    return end - start < secondsPerDay ? shown.slice(11, 16) : shown.slice(5, 16);
  };
  const suffix = times.utc === true ? " UTC" : "";
  const [first, middle, last] = [label(start), label((start + end) / 2), `${label(end)}${suffix}`];
  if (width < first.length + last.length + 2) return count === 1 ? last : `${first} – ${last}`;
  const lastAt = Math.max(width - label(end).length, 0);
  const middleAt = Math.floor((width - middle.length) / 2);
  const fits = middleAt > first.length + 1 && middleAt + middle.length + 1 < lastAt;
  const left = fits ? `${first.padEnd(middleAt)}${middle}` : first;
  return `${left.padEnd(lastAt)}${last}`;
}

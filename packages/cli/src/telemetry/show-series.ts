/** Shows series of a metric: values in a table, and values over time as charts or, if there are many series, as bars. */
import { styleText } from "node:util";
import type { CommandIo } from "../command.ts";
import { oneLine, write, writeLine } from "../output.ts";
import { writeTable, type Cell, type Column } from "../terminal/table.ts";
import { cutToWidth } from "../terminal/text-width.ts";
import { formatTime, type TimeOptions } from "../terminal/times.ts";
import { drawChart, timeAxisOf, valuesOnAxis, type TimeAxis } from "./chart.ts";
import { formatValue } from "./metric-values.ts";
import { sparkline } from "./sparkline.ts";

/** A series of a metric query or of PromQL. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [number, string])[];
}

/** Where and how to show it. */
export interface Shown {
  readonly io: CommandIo;
  readonly values: TimeOptions;
}

interface Measured {
  readonly name: string;
  readonly unit: string;
}

const mostCharts = 4;
/** Bars of a line in a table where there is no terminal; more values are summarized by their greatest. */
const mostBars = 60;

export async function showSeries(samples: readonly Series[], measured: Measured, shown: Shown): Promise<void> {
  const { io } = shown;
  if (samples.length === 0) return writeLine(io.stderr, "No data in this time range.");
  if (!samples.some(({ values }) => values.length > 1)) return showValues(samples, measured, io);
  const axis = timeAxisOf(samples.flatMap(({ values }) => values.map(([time]) => time)));
  return samples.length <= mostCharts
    ? showCharts(samples, axis, { measured, shown })
    : showLines(samples, axis, { measured, shown });
}

function labelsOf(samples: readonly Series[]): string[] {
  return [...new Set(samples.flatMap(({ metric }) => Object.keys(metric)))];
}

/** The heading of a column or a chart, with the unit unless the values show it. */
function titleOf({ name, unit }: Measured): string {
  const isShown = unit === "" || unit === "seconds" || unit.startsWith("share") || unit.includes("currency");
  return isShown ? name : `${name} (${unit})`;
}

async function showValues(samples: readonly Series[], measured: Measured, io: CommandIo): Promise<void> {
  const labels = labelsOf(samples);
  const rows = samples.map(({ metric, values }) => [
    ...labels.map((label) => metric[label] ?? ""),
    formatValue(Number(values[0]?.[1] ?? Number.NaN), measured.unit),
  ]);
  const unit = titleOf({ name: "value", unit: measured.unit });
  await writeTable(io, [...labels, { title: unit, align: "right", whole: true }], rows);
}

interface Drawing {
  readonly measured: Measured;
  readonly shown: Shown;
}

async function showCharts(samples: readonly Series[], axis: TimeAxis, { measured, shown }: Drawing): Promise<void> {
  const { io, values: times } = shown;
  const style = (name: Parameters<typeof styleText>[0], text: string): string =>
    io.colors.stdout ? styleText(name, text, { validateStream: false }) : text;
  for (const [index, { metric, values }] of samples.entries()) {
    const labels = Object.entries(metric)
      .filter(([name]) => name !== "__name__")
      .map(([name, value]) => `${name}=${value}`);
    const title = oneLine([titleOf(measured), ...labels].join(" · "));
    const lines = drawChart(valuesOnAxis(values, axis), axis, {
      ...times,
      width: io.terminalWidth,
      format: (value) => formatValue(value, measured.unit),
      paint: (text) => style("cyan", text),
    });
    const heading = io.terminalWidth === undefined ? title : cutToWidth(title, io.terminalWidth);
    await write(io.stdout, `${index === 0 ? "" : "\n"}${style("bold", heading)}\n${lines.join("\n")}\n`);
  }
}

async function showLines(samples: readonly Series[], axis: TimeAxis, { measured, shown }: Drawing): Promise<void> {
  const { io, values: times } = shown;
  const labels = labelsOf(samples);
  const end = axis.start + axis.step * (axis.count - 1);
  const isOneDay = end - axis.start < 86_400;
  const clock = (seconds: number): string =>
    formatTime(seconds * 1000, times).slice(isOneDay ? 11 : 5, 16) + (times.utc === true ? "Z" : "");
  const columns: readonly (string | Column)[] = [
    ...labels,
    { title: `${clock(axis.start)} – ${clock(end)}`, whole: true },
    { title: "least", align: "right", whole: true, optional: 2 },
    { title: "greatest", align: "right", whole: true, optional: 1 },
    { title: titleOf({ name: "last", unit: measured.unit }), align: "right", whole: true },
  ];
  const rows = samples.map(({ metric, values }): Cell[] => {
    const placed = valuesOnAxis(values, axis);
    const numbers = placed.filter((value) => !Number.isNaN(value));
    const edges = numbers.length === 0 ? [] : [Math.min(...numbers), Math.max(...numbers)];
    return [
      ...labels.map((label) => metric[label] ?? ""),
      { text: sparkline(narrowed(placed, mostBarsOf(io))), style: "cyan" },
      ...[edges[0], edges[1], numbers.at(-1)].map((value) =>
        value === undefined ? "" : formatValue(value, measured.unit),
      ),
    ];
  });
  await writeTable(io, columns, rows);
}

/** Leaves two thirds of a terminal to the other columns. */
function mostBarsOf({ terminalWidth }: CommandIo): number {
  return terminalWidth === undefined ? mostBars : Math.max(12, Math.floor(terminalWidth / 3));
}

/** The greatest of each group of values, if there are too many for a line. */
function narrowed(values: readonly number[], bars: number): number[] {
  if (values.length <= bars) return [...values];
  return Array.from({ length: bars }, (_, bar) => {
    const part = values.slice(Math.floor((bar * values.length) / bars), Math.floor(((bar + 1) * values.length) / bars));
    const finite = part.filter((value) => Number.isFinite(value));
    return finite.length === 0 ? Number.NaN : Math.max(...finite);
  });
}

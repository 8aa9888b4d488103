/**
 * Computes functions over windows of spans in the store: the sums of `rate` and `increase`, and the first and last values of
 * gauges. Results equal the engine's exactly.
 */
import { longStep, CooperativeYield } from "../../../scheduling/cooperative-yield.ts";
import { bucketBounds } from "../../../store/row-expressions.ts";
import { sql } from "../../../store/statement.ts";
import { labelsFrom, type Labels } from "@sounding/promql/series/labels";
import type { GridSeries, WindowsRequest } from "@sounding/promql/storage";
import { formatPlain } from "@sounding/promql/syntax/number-literal";
import { selectCells, type SpanWindows, spanWindows } from "./span-cells.ts";
import type { SpanSeriesName } from "./span-metrics.ts";
import { toNumber, type SpanQuery } from "./span-series.ts";

interface CellsRow {
  readonly label_values: readonly string[];
  readonly bucket: number | string;
  readonly totals: readonly (readonly [cell: string, amount: number | string])[];
}

/** A value, and whether it is present. */
const bytesPerValue = 9;

/** The series of a function over windows of spans; null if only the engine can compute them. */
export async function aggregateSpanWindows(
  name: SpanSeriesName,
  request: WindowsRequest,
  query: SpanQuery,
): Promise<GridSeries[] | null> {
  const windows = spanWindows(name, request);
  if (windows === null) return null;
  const selected = await selectCells(windows, query);
  if (selected === null) return [];
  const rows = await query.reader.query<CellsRow>(
    sql`SELECT label_values, bucket, groupArray((cell, amount)) AS totals FROM (${selected}) GROUP BY label_values, bucket`,
    {
      signal: request.signal,
      memory: { add: request.charge },
      duplicates: "kept",
      maximumRows: request.hints.maxSeries,
    },
  );
  const series: GridSeries[] = [];
  const yielder = new CooperativeYield();
  for (const each of name.part === "bucket" ? bucketGrids(rows, windows) : eachGrid(rows, windows)) {
    // Each bucket has the labels once more.
    request.charge(each.values.length * bytesPerValue + each.labels.key.length);
    series.push(each);
    if (yielder.isDue(longStep)) await yielder.yield();
  }
  return series;
}

function labelsOf(row: CellsRow, { labels }: SpanWindows, le?: number): Labels {
  const entries = labels.map((label, index): [string, string] => [label, row.label_values[index]!]);
  if (le !== undefined) entries.push(["le", formatPlain(le)]);
  return labelsFrom(entries);
}

/** The value of each cell; without spans, the neutral element. */
function totalsOf(row: CellsRow, { cells, request }: SpanWindows): Float64Array {
  const totals = new Float64Array(cells.count).fill(nothing[request.function]);
  const fold = folds[request.function];
  for (const [cell, amount] of row.totals) {
    const at = Number(cell);
    // Cells between windows that do not touch belong to no window.
    if (at >= 0 && at < totals.length) totals[at] = fold(totals[at]!, toNumber(amount));
  }
  return totals;
}

const nothing = { rate: 0, increase: 0, min_over_time: Infinity, max_over_time: -Infinity } as const;

function* eachGrid(rows: readonly CellsRow[], grid: SpanWindows): Generator<GridSeries> {
  const { function: windowFunction } = grid.request;
  const isEdge = windowFunction === "min_over_time" || windowFunction === "max_over_time";
  for (const row of rows) {
    const totals = totalsOf(row, grid);
    yield isEdge ? edgeGrid(labelsOf(row, grid), totals, grid) : sumGrid(labelsOf(row, grid), totals, grid);
  }
}

const folds = {
  rate: (left: number, right: number) => left + right,
  increase: (left: number, right: number) => left + right,
  min_over_time: Math.min,
  max_over_time: Math.max,
} as const;

/** Combines each window's cells from scratch, so that rounding errors do not accumulate. */
function foldWindows(totals: Float64Array, { cells, request }: SpanWindows): Float64Array {
  const fold = folds[request.function];
  const values = new Float64Array(request.windowEndMs.count);
  for (let step = 0; step < values.length; step += 1) {
    const begin = step * cells.perStep;
    let value = totals[begin]!;
    for (let cell = begin + 1; cell < begin + cells.perWindow; cell += 1) value = fold(value, totals[cell]!);
    values[step] = value;
  }
  return values;
}

/** A window without spans has the sum 0: it is known that nothing was counted. */
function sumGrid(labels: Labels, totals: Float64Array, grid: SpanWindows): GridSeries {
  const { function: windowFunction, windowMs } = grid.request;
  const values = foldWindows(totals, grid);
  if (windowFunction === "rate") {
    for (let step = 0; step < values.length; step += 1) values[step]! *= 1000 / windowMs;
  }
  return { labels, values, present: new Uint8Array(values.length).fill(1) };
}

/** A window without spans has no first or last value. */
function edgeGrid(labels: Labels, totals: Float64Array, grid: SpanWindows): GridSeries {
  const values = foldWindows(totals, grid);
  const present = new Uint8Array(values.length);
  for (let step = 0; step < values.length; step += 1) present[step] = Number.isFinite(values[step]) ? 1 : 0;
  return { labels, values, present };
}

/** Histograms: grouped by `le`, one cumulative series per bucket; otherwise the sum over all buckets. */
function* bucketGrids(rows: readonly CellsRow[], grid: SpanWindows): Generator<GridSeries> {
  const byLabels = Map.groupBy(rows, (row) => JSON.stringify(row.label_values));
  const withBuckets = grid.request.groupBy.labels.includes("le");
  for (const group of byLabels.values()) {
    const byBound = new Map(group.map((row) => [toNumber(row.bucket), totalsOf(row, grid)]));
    const running = new Float64Array(grid.cells.count);
    const overAll = new Float64Array(grid.cells.count);
    for (const bound of [...bucketBounds, Infinity]) {
      add(running, byBound.get(bound));
      add(overAll, running);
      if (withBuckets) yield sumGrid(labelsOf(group[0]!, grid, bound), running, grid);
    }
    if (!withBuckets) yield sumGrid(labelsOf(group[0]!, grid), overAll, grid);
  }
}

function add(target: Float64Array, amounts: Float64Array | undefined): void {
  if (amounts === undefined) return;
  for (const [index, amount] of amounts.entries()) target[index]! += amount;
}

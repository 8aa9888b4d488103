/**
 * Computes functions over windows of spans in the store: the sums of `rate` and `increase`, and the first and last values of
 * gauges. Results equal the engine's exactly. Time is divided into cells, so that each window is a whole number of cells.
 */
import { longStep, CooperativeYield } from "../../../scheduling/cooperative-yield.ts";
import { bucketBounds, bucketOf, endMs } from "../../../store/row-expressions.ts";
import { bind, join, sql, type Statement } from "../../../store/statement.ts";
import { labelsFrom, type Labels } from "../../../languages/promql/series/labels.ts";
import type { GridSeries, WindowsRequest } from "../../../languages/promql/storage.ts";
import { formatPlain } from "../../../languages/promql/syntax/number-literal.ts";
import type { SpanLabel } from "../../../store/span-labels.ts";
import type { SpanMetric } from "./span-metric.ts";
import type { SpanSeriesName } from "./span-metrics.ts";
import { labelOf, selectSpans, type SelectedSpans, type SpanSelection } from "./span-selection.ts";
import { toNumber, totalOf, type SpanQuery } from "./span-series.ts";
import { summedCells } from "./summed-cells.ts";

interface CellsRow {
  readonly label_values: readonly string[];
  readonly bucket: number | string;
  readonly totals: readonly (readonly [cell: string, amount: number | string])[];
}

const maximumCells = 200_000;

interface Cells {
  /** The start of the first window. */
  readonly originMs: number;
  readonly lengthMs: number;
  readonly perStep: number;
  readonly perWindow: number;
  readonly count: number;
}

/** The series of a function over windows of spans; null if only the engine can compute them. */
export async function aggregateSpanWindows(
  { metric, part }: SpanSeriesName,
  request: WindowsRequest,
  query: SpanQuery,
): Promise<GridSeries[] | null> {
  const cells = cellsOf(request);
  const { groupBy, matchers } = request;
  const unsupported = groupBy.without || groupBy.labels.includes("__name__") || !fits(request, metric);
  if (cells === null || unsupported || matchers.some(({ name }) => name === "le")) return null;
  const labels = [
    ...new Set(groupBy.labels.map((name) => labelOf(metric, name)).filter((label) => label !== undefined)),
  ];
  const selection = { ...request, metric, project: query.project, labels };
  const statement = await cellsStatement({ metric, part }, cells, { selection, query });
  if (statement === null) return [];
  const rows = await query.reader.query<CellsRow>(statement, {
    signal: request.signal,
    memory: { add: request.charge },
    duplicates: "kept",
    maximumRows: request.hints.maxSeries,
  });
  const grid = { cells, request, labels };
  const series: GridSeries[] = [];
  const yielder = new CooperativeYield();
  for (const each of part === "bucket" ? bucketGrids(rows, grid) : eachGrid(rows, grid)) {
    series.push(each);
    if (yielder.isDue(longStep)) await yielder.yield();
  }
  return series;
}

/** Counts are added up. For a gauge, only its first or last value is exact. */
function fits({ function: windowFunction }: WindowsRequest, { edge }: SpanMetric): boolean {
  if (edge !== undefined) return windowFunction === `${edge}_over_time`;
  return windowFunction === "rate" || windowFunction === "increase";
}

/** The cell length: the greatest common divisor of step and window. */
function cellsOf({ windowEndMs, windowMs }: WindowsRequest): Cells | null {
  const { count, first, stepMs } = windowEndMs;
  const lengthMs = count === 1 ? windowMs : greatestCommonDivisor(windowMs, stepMs);
  const perWindow = windowMs / lengthMs;
  const perStep = count === 1 ? 0 : stepMs / lengthMs;
  const total = perWindow + (count - 1) * perStep;
  if (!Number.isInteger(perWindow) || !Number.isInteger(perStep) || total > maximumCells) return null;
  return { originMs: first - windowMs, lengthMs, perStep, perWindow, count: total };
}

function greatestCommonDivisor(left: number, right: number): number {
  return right === 0 ? left : greatestCommonDivisor(right, left % right);
}

interface CellsQuery {
  readonly selection: SpanSelection & Pick<WindowsRequest, "signal">;
  readonly query: SpanQuery;
}

/** Cells of sums and of the spans that are not summed; a cell can have a part of each. Null if no series can match. */
async function cellsStatement(
  name: Pick<SpanSeriesName, "metric" | "part">,
  cells: Cells,
  { query, selection }: CellsQuery,
): Promise<Statement | null> {
  const { rest, statement } = await summedCells({ name, selection, cells, query });
  const pieces = rest.flatMap((range) => {
    const selected = selectSpans({ ...selection, ...range });
    return selected === null ? [] : [spanCells(name, cells, selected)];
  });
  const parts = statement === undefined ? pieces : [statement, ...pieces];
  if (parts.length === 0) return null;
  const all = join(parts, sql` UNION ALL `);
  return sql`SELECT label_values, bucket, groupArray((cell, amount)) AS totals FROM (${all}) GROUP BY label_values, bucket`;
}

function spanCells(
  { metric, part }: Pick<SpanSeriesName, "metric" | "part">,
  { lengthMs, originMs }: Cells,
  { labelList, rows }: SelectedSpans,
): Statement {
  const amount = part === "bucket" || part === "count" ? sql`1.` : metric.value;
  const bucket = part === "bucket" ? bucketOf(metric.value) : sql`0.`;
  // A cell excludes its start, as windows do.
  const cell = sql`intDiv(${endMs} - ${bind.int64(originMs + 1)}, ${bind.int64(lengthMs)})`;
  return sql`SELECT ${labelList} AS label_values, ${bucket} AS bucket, ${cell} AS cell, ${totalOf(metric)}(${amount}) AS amount
    FROM ${rows} GROUP BY label_values, bucket, cell`;
}

interface GridParts {
  readonly cells: Cells;
  readonly request: WindowsRequest;
  readonly labels: readonly SpanLabel[];
}

function labelsOf(row: CellsRow, { labels }: GridParts, le?: number): Labels {
  const entries = labels.map((label, index): [string, string] => [label, row.label_values[index]!]);
  if (le !== undefined) entries.push(["le", formatPlain(le)]);
  return labelsFrom(entries);
}

/** The value of each cell; without spans, the neutral element. */
function totalsOf(row: CellsRow, { cells, request }: GridParts): Float64Array {
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

function* eachGrid(rows: readonly CellsRow[], grid: GridParts): Generator<GridSeries> {
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
function foldWindows(totals: Float64Array, { cells, request }: GridParts): Float64Array {
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
function sumGrid(labels: Labels, totals: Float64Array, grid: GridParts): GridSeries {
  const { function: windowFunction, windowMs } = grid.request;
  const values = foldWindows(totals, grid);
  if (windowFunction === "rate") {
    for (let step = 0; step < values.length; step += 1) values[step]! *= 1000 / windowMs;
  }
  return { labels, values, present: new Uint8Array(values.length).fill(1) };
}

/** A window without spans has no first or last value. */
function edgeGrid(labels: Labels, totals: Float64Array, grid: GridParts): GridSeries {
  const values = foldWindows(totals, grid);
  const present = new Uint8Array(values.length);
  for (let step = 0; step < values.length; step += 1) present[step] = Number.isFinite(values[step]) ? 1 : 0;
  return { labels, values, present };
}

/** Histograms: grouped by `le`, one cumulative series per bucket; otherwise the sum over all buckets. */
function* bucketGrids(rows: readonly CellsRow[], grid: GridParts): Generator<GridSeries> {
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

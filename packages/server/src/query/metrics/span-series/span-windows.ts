/**
 * Functions over windows of spans, grouped, computed by the store: what `rate` and `increase` add up, and the edges of gauges.
 * The answer is the engine's own to the last count. Time is cut into cells of which every window has a whole number.
 */
import { longStep, CooperativeYield } from "../../../scheduling/cooperative-yield.ts";
import { bind, sql, type Statement } from "../../../store/statement.ts";
import { labelsFrom, type Labels } from "../../../languages/promql/series/labels.ts";
import type { GridSeries, WindowsRequest } from "../../../languages/promql/storage.ts";
import { formatPlain } from "../../../languages/promql/syntax/number-literal.ts";
import type { SpanLabel } from "./span-labels.ts";
import { bucketBounds, type SpanMetric, type SpanSeriesName } from "./span-metrics.ts";
import { bucketOf, endMs, labelList, labelOf, selectionCondition } from "./span-selection.ts";
import { toNumber, totalOf, type SpanQuery } from "./span-series.ts";

interface CellsRow {
  readonly label_values: readonly string[];
  readonly bucket: number | string;
  readonly totals: readonly (readonly [cell: string, amount: number | string])[];
}

const maximumCells = 200_000;

interface Cells {
  /** Where the first window begins. */
  readonly originMs: number;
  readonly lengthMs: number;
  readonly perStep: number;
  readonly perWindow: number;
  readonly count: number;
}

/** The series that a function over windows makes of spans, or null where only the engine can compute them. */
export async function aggregateSpanWindows(
  { metric, part }: SpanSeriesName,
  request: WindowsRequest,
  query: SpanQuery,
): Promise<GridSeries[] | null> {
  const cells = cellsOf(request);
  const { groupBy, matchers } = request;
  const unsupported = groupBy.without || groupBy.labels.includes("__name__") || !fits(request, metric);
  if (cells === null || unsupported || matchers.some(({ name }) => name === "le")) return null;
  const condition = selectionCondition({ ...request, metric, project: query.project });
  if (condition === null) return [];
  const labels = [
    ...new Set(groupBy.labels.map((name) => labelOf(metric, name)).filter((label) => label !== undefined)),
  ];
  const statement = cellsStatement(metric, { labels, condition, part, cells });
  const rows = await query.reader.query<CellsRow>(statement, {
    signal: request.signal,
    memory: { add: request.charge },
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

/** Counts are added up; of a gauge only the edge that it is about is known to the last digit. */
function fits({ function: windowFunction }: WindowsRequest, { edge }: SpanMetric): boolean {
  if (edge !== undefined) return windowFunction === `${edge}_over_time`;
  return windowFunction === "rate" || windowFunction === "increase";
}

/** Cells as long as divides both the step and the window. */
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

interface StatementParts {
  readonly labels: readonly SpanLabel[];
  readonly condition: Statement;
  readonly part: SpanSeriesName["part"];
  readonly cells: Cells;
}

function cellsStatement(metric: SpanMetric, { cells, condition, labels, part }: StatementParts): Statement {
  const amount = part === "bucket" || part === "count" ? sql`1.` : metric.value;
  const bucket = part === "bucket" ? bucketOf(metric) : sql`0.`;
  // A cell is open at its begin, as windows are.
  const cell = sql`intDiv(${endMs} - ${bind.int64(cells.originMs + 1)}, ${bind.int64(cells.lengthMs)})`;
  return sql`SELECT label_values, bucket, groupArray((cell, amount)) AS totals FROM (
      SELECT ${labelList(labels)} AS label_values, ${bucket} AS bucket, ${cell} AS cell, ${totalOf(metric)}(${amount}) AS amount
      FROM ${metric.from} WHERE ${condition} GROUP BY label_values, bucket, cell
    ) GROUP BY label_values, bucket`;
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

/** What spans left in each cell; where none did, what makes no difference to a window. */
function totalsOf(row: CellsRow, { cells, request }: GridParts): Float64Array {
  const totals = new Float64Array(cells.count).fill(nothing[request.function]);
  for (const [cell, amount] of row.totals) {
    const at = Number(cell);
    // Between two windows that do not touch there are cells of none.
    if (at >= 0 && at < totals.length) totals[at] = toNumber(amount);
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

/** What each window's cells make together, anew for each window, so that no rounding is carried on. */
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

/** A window without a span has the sum 0: that nothing was counted is known. */
function sumGrid(labels: Labels, totals: Float64Array, grid: GridParts): GridSeries {
  const { function: windowFunction, windowMs } = grid.request;
  const values = foldWindows(totals, grid);
  if (windowFunction === "rate") {
    for (let step = 0; step < values.length; step += 1) values[step]! *= 1000 / windowMs;
  }
  return { labels, values, present: new Uint8Array(values.length).fill(1) };
}

/** A window without a span has no edge. */
function edgeGrid(labels: Labels, totals: Float64Array, grid: GridParts): GridSeries {
  const values = foldWindows(totals, grid);
  const present = new Uint8Array(values.length);
  for (let step = 0; step < values.length; step += 1) present[step] = Number.isFinite(values[step]) ? 1 : 0;
  return { labels, values, present };
}

/** Histograms: with `le` a series for each bucket, which counts all lower ones too; without, the sum over all of them. */
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

/**
 * `sum by (…) (rate(selector[window]))` and `increase` over spans, computed by the store. The answer is the engine's own to
 * the last count: what was added within each window. Time is cut into cells of which every window has a whole number.
 */
import { bind, sql, type Statement } from "../../store/statement.ts";
import { labelsFrom, type Labels } from "../promql/series/labels.ts";
import type { GridSeries, SumOfRatesRequest } from "../promql/storage.ts";
import { formatPlain } from "../promql/syntax/number-literal.ts";
import type { SpanLabel } from "./span-labels.ts";
import { bucketBounds, type SpanMetric, type SpanSeriesName } from "./span-metrics.ts";
import { bucketOf, endMs, labelList, labelOf, selectionCondition } from "./span-selection.ts";
import { toNumber, type SpanQuery } from "./span-series.ts";

interface SumRow {
  readonly label_values: readonly string[];
  readonly bucket: number | string;
  readonly sums: readonly (readonly [cell: string, amount: number | string])[];
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

/** The sums, or null where only the engine can compute them. */
export async function sumSpanRates(
  { metric, part }: SpanSeriesName,
  request: SumOfRatesRequest,
  query: SpanQuery,
): Promise<GridSeries[] | null> {
  const cells = cellsOf(request);
  const { groupBy, matchers } = request;
  const unsupported = groupBy.without || groupBy.labels.includes("__name__") || metric.type === "gauge";
  if (cells === null || unsupported || matchers.some(({ name }) => name === "le")) return null;
  const condition = selectionCondition({ ...request, metric, project: query.project });
  if (condition === null) return [];
  const labels = groupBy.labels.map((name) => labelOf(metric, name)).filter((label) => label !== undefined);
  const statement = sumsStatement(metric, { labels: [...new Set(labels)], condition, part, cells });
  const rows = await query.reader.query<SumRow>(statement, {
    signal: request.signal,
    maximumRows: request.hints.maxSeries,
  });
  const grid = { cells, request, labels: [...new Set(labels)] };
  if (part !== "bucket")
    return rows.map((row) => toGrid(labelsOf(row, grid), windowSums(countsOf(row, cells), grid), grid));
  return bucketGrids(rows, grid);
}

/** Cells as long as divides both the step and the window. */
function cellsOf({ windowEndMs, windowMs }: SumOfRatesRequest): Cells | null {
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

function sumsStatement(metric: SpanMetric, { cells, condition, labels, part }: StatementParts): Statement {
  const amount = part === "bucket" || part === "count" ? sql`1.` : metric.value;
  const bucket = part === "bucket" ? bucketOf(metric) : sql`0.`;
  // A cell is open at its begin, as windows are.
  const cell = sql`intDiv(${endMs} - ${bind.int64(cells.originMs + 1)}, ${bind.int64(cells.lengthMs)})`;
  return sql`SELECT label_values, bucket, groupArray((cell, amount)) AS sums FROM (
      SELECT ${labelList(labels)} AS label_values, ${bucket} AS bucket, ${cell} AS cell, sum(${amount}) AS amount
      FROM ${metric.from} WHERE ${condition} GROUP BY label_values, bucket, cell
    ) GROUP BY label_values, bucket`;
}

interface GridParts {
  readonly cells: Cells;
  readonly request: SumOfRatesRequest;
  readonly labels: readonly SpanLabel[];
}

function labelsOf(row: SumRow, { labels }: GridParts, le?: number): Labels {
  const entries = labels.map((label, index): [string, string] => [label, row.label_values[index]!]);
  if (le !== undefined) entries.push(["le", formatPlain(le)]);
  return labelsFrom(entries);
}

function countsOf(row: SumRow, cells: Cells): Float64Array {
  const counts = new Float64Array(cells.count);
  for (const [cell, amount] of row.sums) {
    const at = Number(cell);
    // Between two windows that do not touch there are cells of none.
    if (at >= 0 && at < counts.length) counts[at]! += toNumber(amount);
  }
  return counts;
}

/** What each window's cells add up to, anew for each window where they are few, so that no rounding is carried on. */
function windowSums(counts: Float64Array, { cells, request }: GridParts): Float64Array {
  const { count } = request.windowEndMs;
  return Float64Array.from({ length: count }, (_, step) => {
    let sum = 0;
    const begin = step * cells.perStep;
    for (let cell = begin; cell < begin + cells.perWindow; cell += 1) sum += counts[cell]!;
    return sum;
  });
}

function toGrid(labels: Labels, sums: Float64Array, { request }: GridParts): GridSeries {
  const factor = request.function === "rate" ? 1000 / request.windowMs : 1;
  return { labels, values: sums.map((sum) => sum * factor), present: new Uint8Array(sums.length).fill(1) };
}

/** Histograms: with `le` a series for each bucket, which counts all lower ones too; without, the sum over all of them. */
function bucketGrids(rows: readonly SumRow[], grid: GridParts): GridSeries[] {
  const byLabels = Map.groupBy(rows, (row) => JSON.stringify(row.label_values));
  const withBuckets = grid.request.groupBy.labels.includes("le");
  return [...byLabels.values()].flatMap((group) => {
    const byBound = new Map(group.map((row) => [toNumber(row.bucket), countsOf(row, grid.cells)]));
    const running = new Float64Array(grid.cells.count);
    const overAll = new Float64Array(grid.cells.count);
    const grids = [...bucketBounds, Infinity].map((bound) => {
      add(running, byBound.get(bound));
      add(overAll, running);
      return toGrid(labelsOf(group[0]!, grid, bound), windowSums(running, grid), grid);
    });
    return withBuckets ? grids : [toGrid(labelsOf(group[0]!, grid), windowSums(overAll, grid), grid)];
  });
}

function add(target: Float64Array, amounts: Float64Array | undefined): void {
  if (amounts === undefined) return;
  for (const [index, amount] of amounts.entries()) target[index]! += amount;
}

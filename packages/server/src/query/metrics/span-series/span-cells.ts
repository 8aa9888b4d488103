/**
 * Divides time into cells, so that each window of a query is a whole number of cells, and selects the cells of spans: from sums where
 * these have all that is asked, and from spans.
 */
import { bucketOf, endMs } from "../../../store/row-expressions.ts";
import { bind, join, sql, type Statement } from "../../../store/statement.ts";
import type { WindowsRequest } from "@sounding/promql/storage";
import type { SpanLabel } from "../../../store/span-labels.ts";
import { withMatchingValues } from "./matching-values.ts";
import type { SpanMetric } from "./span-metric.ts";
import type { SpanSeriesName } from "./span-metrics.ts";
import { labelOf, selectSpans, type SelectedSpans } from "./span-selection.ts";
import { totalOf, type SpanQuery } from "./span-series.ts";
import { summedCells } from "./summed-cells.ts";

const maximumCells = 200_000;

export interface Cells {
  /** The start of the first window. */
  readonly originMs: number;
  readonly lengthMs: number;
  readonly perStep: number;
  readonly perWindow: number;
  readonly count: number;
}

/** A function over windows of one name's series that the store can compute. */
export interface SpanWindows {
  readonly name: SpanSeriesName;
  readonly request: WindowsRequest;
  readonly cells: Cells;
  /** The labels that spans are grouped by. */
  readonly labels: readonly SpanLabel[];
}

/** Null if only the engine can compute them. */
export function spanWindows(name: SpanSeriesName, request: WindowsRequest): SpanWindows | null {
  const { metric } = name;
  const { groupBy, matchers } = request;
  const cells = cellsOf(request);
  const isUnsupported = groupBy.without || groupBy.labels.includes("__name__") || !fits(request, metric);
  if (cells === null || isUnsupported || matchers.some((matcher) => matcher.name === "le")) return null;
  const labels = groupBy.labels.map((label) => labelOf(metric, label)).filter((label) => label !== undefined);
  return { name, request, cells, labels: [...new Set(labels)] };
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

/**
 * Selects label_values, bucket, cell and amount. Sums and spans can each have a part of a cell, as several rows. Null if no series
 * can match.
 */
export async function selectCells(
  { cells, labels, name, request }: SpanWindows,
  query: SpanQuery,
): Promise<Statement | null> {
  const selection = await withMatchingValues(
    { ...request, metric: name.metric, project: query.project, labels },
    { ...request, reader: query.reader },
  );
  const { rest, statement } = await summedCells({ name, selection, cells, query });
  const selected = rest.length === 0 ? null : selectSpans({ ...selection, ranges: rest });
  const parts = [statement, selected === null ? undefined : cellsOfSpans(name, cells, selected)];
  const given = parts.filter((part) => part !== undefined);
  return given.length === 0 ? null : join(given, sql` UNION ALL `);
}

function cellsOfSpans(
  { metric, part }: SpanSeriesName,
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

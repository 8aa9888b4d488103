/**
 * Reduces functions over windows of spans to one number for each window in the store: with tens of thousands of sessions a day, the
 * series that are counted take much more memory and time than the result.
 */
import type { GridSeries, ReductionRequest } from "@sounding/promql/storage";
import { emptyLabels } from "@sounding/promql/series/labels";
import { bind, sql, type Statement } from "../../../store/statement.ts";
import { selectCells, type Cells, type SpanWindows, spanWindows } from "./span-cells.ts";
import { one } from "./span-metric.ts";
import type { SpanSeriesName } from "./span-metrics.ts";
import { toNumber, type SpanQuery } from "./span-series.ts";

interface WindowRow {
  readonly window: string;
  readonly value: number | string;
}

/** A cell is in more windows if these overlap more; then only the engine counts. */
const mostWindowsOfCell = 64;

/** The names of the series of a reduction. */
export interface ReducedNames {
  readonly windows: SpanSeriesName;
  /** Of an average's subtracted series. */
  readonly subtracted: SpanSeriesName | undefined;
}

/** Null if only the engine can compute it. */
export async function reduceSpanWindows(
  names: ReducedNames,
  request: ReductionRequest,
  query: SpanQuery,
): Promise<GridSeries | null> {
  const statement = await reductionStatement(names, request, query);
  if (statement === null) return null;
  const { charge, signal, windowEndMs } = request.windows;
  const values = new Float64Array(windowEndMs.count);
  const present = new Uint8Array(windowEndMs.count);
  if (statement !== undefined) {
    const rows = await query.reader.query<WindowRow>(statement, {
      signal,
      memory: { add: charge },
      duplicates: "kept",
    });
    for (const { value, window } of rows) {
      values[Number(window)] = toNumber(value);
      present[Number(window)] = 1;
    }
  }
  return { labels: emptyLabels, values, present };
}

/** Selects window and value. Undefined if no series can match, null if only the engine can compute it. */
async function reductionStatement(
  names: ReducedNames,
  request: ReductionRequest,
  query: SpanQuery,
): Promise<Statement | null | undefined> {
  const windows = spanWindows(names.windows, request.windows);
  if (windows === null || windowsOfCell(windows.cells) > mostWindowsOfCell) return null;
  if (request.kind === "count_positive") {
    // Sums of counts only: others can cancel each other out.
    const { metric, part } = names.windows;
    if (metric.value !== one && part !== "count") return null;
    const cells = await selectCells(windows, query);
    return cells === null ? undefined : countStatement(windows, cells);
  }
  const subtracted = names.subtracted && spanWindows(names.subtracted, request.subtracted);
  if (subtracted == null || !haveSameSpans(windows, subtracted)) return null;
  const [last, first] = [await selectCells(windows, query), await selectCells(subtracted, query)];
  return last === null || first === null ? undefined : averageStatement(windows, last, first);
}

function countStatement({ cells, request }: SpanWindows, selected: Statement): Statement {
  return sql`SELECT ${windowsOf(cells, request.windowEndMs.count)} AS window, uniqExact(label_values) AS value
    FROM (${selected}) WHERE amount > 0 GROUP BY window`;
}

/** Series without both values have no partner: the two parts are read one after the other, while spans arrive. */
function averageStatement({ cells, request }: SpanWindows, last: Statement, first: Statement): Statement {
  return sql`SELECT window, avg(last - first) AS value FROM (
      SELECT ${windowsOf(cells, request.windowEndMs.count)} AS window, label_values,
        maxIf(amount, is_last) AS last, minIf(amount, NOT is_last) AS first
      FROM (
        SELECT label_values, cell, amount, true AS is_last FROM (${last})
        UNION ALL SELECT label_values, cell, amount, false AS is_last FROM (${first})
      ) GROUP BY window, label_values HAVING countIf(is_last) > 0 AND countIf(NOT is_last) > 0
    ) GROUP BY window`;
}

function haveSameSpans(left: SpanWindows, right: SpanWindows): boolean {
  const spansOf = ({ cells, labels, name, request }: SpanWindows): unknown => [
    cells,
    labels,
    name.metric.required,
    [request.fromMs, request.toMs],
    request.matchers.filter((matcher) => matcher.name !== "__name__"),
  ];
  const isSameCondition = left.name.metric.condition === right.name.metric.condition;
  return isSameCondition && JSON.stringify(spansOf(left)) === JSON.stringify(spansOf(right));
}

function windowsOfCell({ perStep, perWindow }: Cells): number {
  return perStep === 0 ? 1 : Math.ceil(perWindow / perStep);
}

/** The windows that a cell is in, a row for each. */
function windowsOf({ perStep, perWindow }: Cells, windowCount: number): Statement {
  // A constant would be the place of a column in GROUP BY.
  if (perStep === 0) return sql`materialize(0)`;
  const step = bind.int64(perStep);
  const last = sql`least(intDiv(cell, ${step}), ${bind.int64(windowCount - 1)})`;
  // The first window whose end is not before the cell; cells between windows that do not touch are in none.
  const first = sql`greatest(intDiv(cell - ${bind.int64(perWindow)} + ${step}, ${step}), 0)`;
  return sql`arrayJoin(range(toUInt32(${first}), toUInt32(greatest(${last} + 1, ${first}))))`;
}

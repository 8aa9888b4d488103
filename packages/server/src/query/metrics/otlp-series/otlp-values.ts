/** Reads points of gauges and sums as columns. */
import { longStep, CooperativeYield } from "../../../scheduling/cooperative-yield.ts";
import type { ColumnBlock, ListColumn } from "../../../store/native-reader.ts";
import { sql, type Statement } from "../../../store/statement.ts";
import type { TenantReader } from "../../../store/store.ts";
import {
  hasStarts,
  listOf,
  offsetOf,
  pointCondition,
  sharedStart,
  sharedStartColumns,
  startMs,
  timeColumnsOf,
  type PointsRequest,
  type TimeColumns,
} from "./otlp-points.ts";
import { listsThatFit } from "./statement-lists.ts";
import { inTimeOrder, type ValueColumns } from "./value-columns.ts";

/**
 * Points by series ID. Few series have points with several starts; a second statement reads those, because grouping all
 * points with their starts takes twice as long.
 */
export async function readValues(reader: TenantReader, request: PointsRequest): Promise<Map<string, ValueColumns>> {
  const found = new Map<string, ValueColumns>();
  const restarted: string[] = [];
  // Without `materialize`, lists can differ in order if a column is stored sparsely.
  const statement = sql`SELECT series_id, ${sharedStart(request)}, groupArray(materialize(value)) AS point_values
    FROM points WHERE ${pointCondition(request)} GROUP BY series_id`;
  for await (const { columns, id, row } of seriesRows(reader, request, statement)) {
    const times = sharedStartColumns(columns, row, request.fromMs);
    if (times === undefined) restarted.push(id);
    else found.set(id, valueColumns(times, columns, row));
  }
  for (const seriesIds of listsThatFit(restarted, ({ length }) => length))
    await readRestarted(reader, { ...request, seriesIds }, found);
  return found;
}

async function readRestarted(
  reader: TenantReader,
  request: PointsRequest,
  found: Map<string, ValueColumns>,
): Promise<void> {
  const statement = sql`SELECT series_id, points.1 AS times, points.2 AS point_values, if(has_starts, points.3, []) AS starts,
      if(has_stale, points.4, []) AS stale
    FROM (
      SELECT series_id, ${hasStarts} AS has_starts, max(bitAnd(flags, 1)) AS has_stale,
        groupArray((${offsetOf(request)}, value, ${startMs}, bitAnd(flags, 1))) AS points
      FROM points WHERE ${pointCondition(request)} GROUP BY series_id
    )`;
  for await (const { columns, id, row } of seriesRows(reader, request, statement))
    found.set(id, valueColumns(timeColumnsOf(columns, row, request.fromMs), columns, row));
}

function valueColumns(times: TimeColumns, columns: ColumnBlock["columns"], row: number): ValueColumns {
  return inTimeOrder({ ...times, values: listOf(columns.get("point_values") as ListColumn, row) as Float64Array });
}

/** One row of a statement about points. */
interface SeriesRow {
  readonly id: string;
  readonly columns: ColumnBlock["columns"];
  readonly row: number;
}

/** The statement's rows, which have a series each, in slices of time. */
export async function* seriesRows(
  reader: TenantReader,
  { charge, maxSeries, signal }: PointsRequest,
  statement: Statement,
): AsyncGenerator<SeriesRow> {
  const options = { signal, memory: { add: charge }, duplicates: "kept", maximumRows: maxSeries } as const;
  const yielder = new CooperativeYield();
  for (const { columns } of await reader.columns(statement, options)) {
    for (const [row, id] of (columns.get("series_id") as BigUint64Array).entries()) {
      yield { id: String(id), columns, row };
      if (yielder.isDue(longStep)) await yielder.yield();
    }
  }
}

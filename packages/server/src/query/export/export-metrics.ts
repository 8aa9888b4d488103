/** Reads a page of data points as OTLP, by metric, series and time: gauges and sums first, then histograms and summaries. */
import { CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import { isTargetInfo } from "../../store/row-expressions.ts";
import { bind, callerOrganization, sql, type Statement } from "../../store/statement.ts";
import type { TenantReader } from "../../store/store.ts";
import { allOf } from "../conditions.ts";
import { deduplicateRows } from "../distinct-rows.ts";
import { lookUpResources } from "../resource-lookup.ts";
import { isId, isTime } from "./export-cursor.ts";
import { type ExportPage, groupByScope, type PageRequest, recordsPerRequest } from "./export-page.ts";
import {
  attachExemplars,
  type DescribedPoint,
  distributionColumns,
  numberColumns,
  type ExemplarRow,
  type PointRow,
  type SeriesRow,
  toMetrics,
} from "./metric-json.ts";

const pointTables = [
  { name: "points", table: sql`points`, columns: numberColumns },
  { name: "distribution_points", table: sql`distribution_points`, columns: distributionColumns },
] as const;

interface Position {
  readonly table: number;
  /** Undefined: the table's first point. */
  readonly after: { readonly metric: string; readonly seriesId: string; readonly unixNano: string } | undefined;
}

/** Undefined if the cursor is not one of metrics. @throws AppError as the store does */
export async function exportMetrics(request: PageRequest): Promise<ExportPage | undefined> {
  const { limit, reader, signal } = request;
  const start = positionOf(request.after);
  if (start === undefined) return undefined;
  const found: PointRow[] = [];
  let { after, table } = start;
  for (; table < pointTables.length; table += 1, after = undefined) {
    found.push(...(await readPoints(request, { table, after }, limit + 1 - found.length)));
    if (found.length > limit) break;
  }
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const points = await deduplicateRows(
    page,
    ({ metric, series_id, unix_nano }) => `${metric} ${series_id} ${unix_nano}`,
  );
  const isComplete = found.length <= limit;
  const series = await readSeries(reader, points, signal);
  attachExemplars(points, await readExemplars(request, points, { after: start.after, isComplete }));
  const lookup = await lookUpResources(reader, [...series.values()], { signal });
  const yielder = new CooperativeYield();
  const requests: object[] = [];
  for (let at = 0; at < points.length; at += recordsPerRequest) {
    const rows = points.slice(at, at + recordsPerRequest).flatMap((point) => {
      const described = series.get(`${point.metric} ${point.series_id}`);
      // The series expired between the statements.
      return described === undefined ? [] : [{ ...described, point }];
    });
    const records = (ofScope: readonly DescribedPoint[]): object => ({ metrics: toMetrics(ofScope) });
    requests.push({ resourceMetrics: await groupByScope(rows, lookup, { name: "scopeMetrics", records, yielder }) });
  }
  const next = isComplete || !last ? undefined : [last.table, last.metric, last.series_id, last.unix_nano];
  return { requests, next };
}

function positionOf(position: readonly string[] | undefined): Position | undefined {
  if (position === undefined) return { table: 0, after: undefined };
  const [name, metric, seriesId, unixNano] = position;
  const table = pointTables.findIndex((each) => each.name === name);
  if (table === -1 || metric === undefined || !isId(seriesId) || !isTime(unixNano)) return undefined;
  return { table, after: { metric, seriesId, unixNano } };
}

async function readPoints(
  { project, range, reader, signal }: PageRequest,
  { after, table: number }: Position,
  count: number,
): Promise<PointRow[]> {
  const { columns, name, table } = pointTables[number]!;
  const condition = allOf([
    sql`organization = ${callerOrganization}`,
    sql`time >= ${bind.time(range.fromUnixNano)} AND time <= ${bind.time(range.toUnixNano)}`,
    sql`(metric, series_id) IN (SELECT metric, series_id FROM series
      WHERE organization = ${callerOrganization} AND project = ${bind.text(project)} AND NOT ${isTargetInfo})`,
    after === undefined ? undefined : isAfter(after),
  ]);
  const rows = await reader.query<Omit<PointRow, "table" | "exemplars">>(
    sql`SELECT metric, series_id, toUnixTimestamp64Nano(start_time) AS start_nano, toUnixTimestamp64Nano(time) AS unix_nano,
        flags, ${columns}
      FROM ${table} WHERE ${condition} ORDER BY metric, series_id, time LIMIT ${bind.uint32(count)}`,
    { signal, maximumRows: count, duplicates: "kept" },
  );
  return rows.map((row) => ({ ...row, table: name, exemplars: [] }));
}

function isAfter({ metric, seriesId, unixNano }: NonNullable<Position["after"]>): Statement {
  const [name, id] = [bind.text(metric), bind.uint64(seriesId)];
  return sql`metric >= ${name} AND (metric > ${name} OR series_id > ${id} OR (series_id = ${id} AND time > ${bind.time(unixNano)}))`;
}

/** By metric and ID. */
async function readSeries(
  reader: TenantReader,
  points: readonly PointRow[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, SeriesRow>> {
  if (points.length === 0) return new Map();
  const rows = await reader.query<SeriesRow>(
    sql`SELECT metric, series_id, toUInt8(type) AS type_number, unit, description, toUInt8(temporality) AS temporality_number,
        monotonic, resource_id, scope_id, mapKeys(attributes) AS attribute_names, mapValues(attributes) AS attribute_values,
        attribute_types
      FROM series WHERE organization = ${callerOrganization} AND ${isOneOf(points)} ORDER BY seen`,
    { signal, duplicates: "kept" },
  );
  return new Map(rows.map((row) => [`${row.metric} ${row.series_id}`, row]));
}

interface PageBounds {
  /** The last point of the page before. */
  readonly after: Position["after"];
  /** Whether no page follows. */
  readonly isComplete: boolean;
}

/** The exemplars of the page's points: the series at its ends may have others on the pages before and after. */
async function readExemplars(
  { range, reader, signal }: PageRequest,
  points: readonly PointRow[],
  { after, isComplete }: PageBounds,
): Promise<readonly ExemplarRow[]> {
  const last = points.at(-1);
  if (last === undefined) return [];
  const ofSeries = (metric: string, id: string): Statement =>
    sql`metric = ${bind.text(metric)} AND series_id = ${bind.uint64(id)}`;
  const condition = allOf([
    sql`organization = ${callerOrganization} AND ${isOneOf(points)}`,
    sql`time >= ${bind.time(range.fromUnixNano)} AND time <= ${bind.time(range.toUnixNano)}`,
    after === undefined
      ? undefined
      : sql`NOT (${ofSeries(after.metric, after.seriesId)} AND time <= ${bind.time(after.unixNano)})`,
    isComplete
      ? undefined
      : sql`NOT (${ofSeries(last.metric, last.series_id)} AND time > ${bind.time(last.unix_nano)})`,
  ]);
  return reader.query<ExemplarRow>(
    sql`SELECT metric, series_id, toUnixTimestamp64Nano(time) AS unix_nano, value, trace_id, span_id,
        mapKeys(attributes) AS attribute_names, mapValues(attributes) AS attribute_values, attribute_types
      FROM exemplars WHERE ${condition} ORDER BY metric, series_id, time, trace_id, span_id`,
    { signal },
  );
}

function isOneOf(points: readonly PointRow[]): Statement {
  const metrics = [...new Set(points.map(({ metric }) => metric))];
  const ids = [...new Set(points.map(({ series_id }) => series_id))];
  return sql`metric IN ${bind.texts(metrics)} AND series_id IN ${bind.uint64s(ids)}`;
}

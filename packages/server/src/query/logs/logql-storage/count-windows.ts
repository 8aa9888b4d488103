/**
 * Counts entries or bytes of lines in the store, by windows of time and labels, where the result is exactly the engine's. Time is
 * divided into cells, so that each window is a whole number of cells.
 */
import type { CountSeries, CountsRequest } from "@sounding/logql/storage";
import { keepLabels, type Labels } from "@sounding/promql/series/labels";
import { isWholeMinute, minuteUnixNano, rolledUpPart } from "../../../store/rollups/rolled-up-part.ts";
import { logMinutes } from "../../../store/rollups/rollup-tables.ts";
import { lineBytes } from "../../../store/row-expressions.ts";
import { bind, join, sql, type Statement } from "../../../store/statement.ts";
import type { QueryOptions } from "../../../store/store.ts";
import type { TimeRange } from "../../time-window.ts";
import { logMinuteRows } from "./log-minutes.ts";
import { hasStructuredBody } from "./line-conditions.ts";
import type { LogsQuery } from "./logs-query.ts";
import { isPushedLevelUsed } from "./resource-conditions.ts";
import { rowConditions } from "./row-conditions.ts";
import { ownLabels, streamLabels } from "./stream-labels.ts";
import { levelWords, streamLevel } from "./stream-level.ts";
import { timesCondition } from "./store-times.ts";
import { cellOf, cellsOf, rangeOf, sumWindows, type Cells } from "./window-cells.ts";

/** Of the entries of a project and service: numbers for each cell and level that has any. */
interface GroupRow {
  readonly project: string;
  readonly service: string;
  readonly structured: number | string;
  /** Cell times levels plus level. */
  readonly places: readonly (number | string)[];
  readonly entries: readonly string[];
  /** Empty unless bytes are counted. */
  readonly bytes: readonly string[];
}

interface Counting {
  readonly request: CountsRequest;
  readonly cells: Cells;
  readonly labels: ReadonlySet<string>;
  readonly condition: Statement;
}

/** The cost of a group's labels, in samples. */
const groupCost = 128;

/** @returns null if only the engine can count exactly */
export async function countWindows(request: CountsRequest, query: LogsQuery): Promise<CountSeries[] | null> {
  const { charge, signal } = request;
  const cells = cellsOf(request);
  const labels = groupedLabels(request);
  if (cells === null || labels === null) return null;
  if (labels.has("level") && (await isPushedLevelUsed(query, request))) return null;
  const found = await rowConditions(request, query);
  if (found === null) return [];
  if (!found.isExact) return null;
  const counting: Counting = { request, cells, labels, condition: found.condition };
  const rows = await readGroups(counting, query, { signal, memory: { add: charge } });
  // What the line of a list or a map is, and whether it passes a filter, only the engine knows.
  if (rows.some(({ structured }) => Number(structured) > 0)) return null;
  return countSeries(rows, counting);
}

/**
 * Labels to group by; null if they are not only those that every entry has: structured metadata may have the name of any other
 * label.
 */
function groupedLabels({ groupBy }: CountsRequest): ReadonlySet<string> | null {
  if (groupBy === null || groupBy.without || groupBy.labels.some((label) => !ownLabels.has(label))) return null;
  return new Set(groupBy.labels);
}

/** Groups of sums by minute where these have all that is counted, and of rows. */
async function readGroups(counting: Counting, { reader }: LogsQuery, options: QueryOptions): Promise<GroupRow[]> {
  const { cells, request } = counting;
  const isSummed =
    request.lineFilters.length === 0 &&
    request.metadataMatchers.length === 0 &&
    isWholeMinute(cells.originNano) &&
    isWholeMinute(cells.lengthNano);
  const { signal } = options;
  const { condition, rest } = await rolledUpPart(logMinutes, rangeOf(cells, request), { reader, signal, isSummed });
  const [sums, rows] = await Promise.all([
    condition === undefined
      ? []
      : reader.query<GroupRow>(groupsStatement(counting, summedMinutes(sql`${counting.condition} AND ${condition}`)), {
          ...options,
          duplicates: "kept",
        }),
    rest.length === 0 ? [] : reader.query<GroupRow>(countStatement(counting, rest), options),
  ]);
  return condition === undefined ? rows : merged([...sums, ...rows]);
}

function merged(rows: readonly GroupRow[]): GroupRow[] {
  const groups = Map.groupBy(rows, ({ project, service }) => JSON.stringify([project, service]));
  return [...groups.values()].map((parts) => ({
    project: parts[0]!.project,
    service: parts[0]!.service,
    structured: parts.reduce((sum, { structured }) => sum + Number(structured), 0),
    places: parts.flatMap(({ places }) => places),
    entries: parts.flatMap(({ entries }) => entries),
    bytes: parts.flatMap(({ bytes }) => bytes),
  }));
}

/** Counters of a group in one array; more are counted by groups of their own, so that they take memory only where they count. */
const mostCounters = 16_384;

/**
 * Duplicates are removed while reading, which is cheap for merged parts. Arrays of counters are faster than groups by cell. A group
 * by one column of few values is faster than by its hash, and a group by one hash is faster than by several columns.
 */
function countStatement(counting: Counting, ranges: readonly TimeRange[]): Statement {
  const { cells, condition, labels, request } = counting;
  const { lineFilters, measure } = request;
  const levels = levelCountOf(labels);
  const size = cells.count * levels;
  const columns = keyColumns(labels);
  const readsLines = measure === "bytes" || lineFilters.length > 0;
  const rows = {
    from: sql`FROM logs WHERE ${condition} AND ${timesCondition(ranges)}`,
    unixNano: sql`toUnixTimestamp64Nano(time)`,
    entries: sql`count()`,
    bytes: sql`sum(${lineBytes})`,
    structured: readsLines ? sql`countIf(${hasStructuredBody})` : sql`0`,
  };
  if (size > mostCounters) return groupsStatement(counting, rows);
  const isByColumn = columns.length === 1;
  const key = isByColumn ? columns[0]! : hashOf(columns);
  const counters = bind.uint32(size);
  const sums = measure === "bytes" ? sql`sumResample(0, ${counters}, 1)(${lineBytes}, place)` : sql`counts`;
  return sql`SELECT project_name AS project, service_name AS service, structured,
      arrayFilter((at, found) -> found > 0, range(${counters}), counts) AS places,
      arrayFilter(found -> found > 0, counts) AS entries, arrayFilter((total, found) -> found > 0, sums, counts) AS bytes
    FROM (SELECT ${key} AS key, ${namesOf(labels, isByColumn)}, ${rows.structured} AS structured,
        countResample(0, ${counters}, 1)(${placeOf(counting, rows.unixNano)} AS place) AS counts, ${sums} AS sums
      ${rows.from} GROUP BY key)`;
}

/** What is counted, and how. */
interface CountedRows {
  readonly from: Statement;
  readonly unixNano: Statement;
  readonly entries: Statement;
  readonly bytes: Statement;
  readonly structured: Statement;
}

function summedMinutes(condition: Statement): CountedRows {
  return {
    from: sql`FROM ${logMinuteRows} WHERE ${condition}`,
    unixNano: sql`(${minuteUnixNano} + 1)`,
    entries: sql`sum(entries)`,
    bytes: sql`sum(bytes)`,
    structured: sql`sum(structured)`,
  };
}

/** Groups by cell, so that cells take memory only where something is counted. */
function groupsStatement(counting: Counting, { bytes, entries, from, structured, unixNano }: CountedRows): Statement {
  const { labels, request } = counting;
  const total = request.measure === "bytes" ? bytes : sql`0`;
  return sql`SELECT any(project_name) AS project, any(service_name) AS service, sum(structured_entries) AS structured,
      groupArray(place) AS places, groupArray(found) AS entries, groupArray(total) AS bytes
    FROM (SELECT ${hashOf(keyColumns(labels))} AS key, ${placeOf(counting, unixNano)} AS place, ${namesOf(labels, false)},
        ${structured} AS structured_entries, ${entries} AS found, ${total} AS total
      ${from} GROUP BY key, place)
    GROUP BY key`;
}

function keyColumns(labels: ReadonlySet<string>): Statement[] {
  return [...(labels.has("project_name") ? [sql`project`] : []), ...(labels.has("service_name") ? [sql`service`] : [])];
}

function namesOf(labels: ReadonlySet<string>, isByColumn: boolean): Statement {
  const textOf = isByColumn ? textOfKey : anyOf;
  const project = textOf(labels.has("project_name") ? sql`project` : undefined);
  const service = textOf(labels.has("service_name") ? sql`service` : undefined);
  return sql`${project} AS project_name, ${service} AS service_name`;
}

function placeOf({ cells, labels }: Counting, unixNano: Statement): Statement {
  const levels = levelCountOf(labels);
  const level = levels === 1 ? sql`` : sql` * ${bind.uint8(levels)} + ${streamLevel}`;
  return sql`toUInt32(${cellOf(cells, unixNano)}${level})`;
}

function levelCountOf(labels: ReadonlySet<string>): number {
  return labels.has("level") || labels.has("detected_level") ? levelWords.length : 1;
}

function anyOf(column: Statement | undefined): Statement {
  return column === undefined ? sql`''` : sql`any(${textOfKey(column)})`;
}

function textOfKey(column: Statement | undefined): Statement {
  return column === undefined ? sql`''` : sql`toString(${column})`;
}

/** Texts of few values are hashed once each. */
function hashOf(columns: readonly Statement[]): Statement {
  if (columns.length === 0) return sql`toUInt64(0)`;
  return join(
    columns.map((column, index) => sql`toUInt64(cityHash64(${column})) * ${bind.uint64(2 * index + 1)}`),
    sql` + `,
  );
}

/** Of a series: a value and whether it is present. */
const bytesPerWindow = Float64Array.BYTES_PER_ELEMENT + Uint8Array.BYTES_PER_ELEMENT;

async function countSeries(rows: readonly GroupRow[], counting: Counting): Promise<CountSeries[]> {
  const { cells, labels, request } = counting;
  const { charge, maximumSeries, measure, windowEndMs, yieldBudget } = request;
  const levels = levelCountOf(labels);
  const series: CountSeries[] = [];
  let chargedSeries = 0;
  for (const row of rows) {
    const groups = new Map<number, { readonly entries: Float64Array; readonly bytes: Float64Array }>();
    for (const [index, text] of row.places.entries()) {
      const place = Number(text);
      const level = place % levels;
      let group = groups.get(level);
      if (group === undefined) {
        group = { entries: new Float64Array(cells.count), bytes: new Float64Array(cells.count) };
        groups.set(level, group);
      }
      const cell = (place - level) / levels;
      group.entries[cell]! += Number(row.entries[index]);
      if (measure === "bytes") group.bytes[cell]! += Number(row.bytes[index]);
    }
    for (const [level, { bytes, entries }] of groups) {
      if (chargedSeries === series.length) {
        charge(bytesPerWindow * windowEndMs.count);
        chargedSeries += 1;
      }
      const counts = sumWindows(entries, cells, windowEndMs.count);
      const values = measure === "bytes" ? sumWindows(bytes, cells, windowEndMs.count) : counts;
      const present = Uint8Array.from(counts, (count) => (count > 0 ? 1 : 0));
      if (present.includes(1)) series.push({ labels: labelsOf(row, level, labels), values, present });
      if (series.length > maximumSeries) return series;
      if (yieldBudget.spend(groupCost + cells.count)) await yieldBudget.yield();
    }
  }
  return series;
}

function labelsOf({ project, service }: GroupRow, level: number, names: ReadonlySet<string>): Labels {
  return keepLabels(streamLabels({ project, service, level, resource_id: "0" }, undefined), names);
}

/**
 * Counts entries or bytes of lines in the store, by windows of time and labels, where the result is exactly the engine's. Time is
 * divided into cells, so that each window is a whole number of cells.
 */
import type { CountSeries, CountsRequest } from "../../../languages/logql/storage.ts";
import { keepLabels, type Labels } from "../../../languages/promql/series/labels.ts";
import { bind, join, sql, type Statement } from "../../../store/statement.ts";
import { hasStructuredBody } from "./line-conditions.ts";
import type { LogsQuery } from "./logs-query.ts";
import { isPushedLevelUsed } from "./resource-conditions.ts";
import { rowConditions } from "./row-conditions.ts";
import { ownLabels, streamLabels } from "./stream-labels.ts";
import { levelWords, streamLevel } from "./stream-level.ts";
import { cellOf, cellsCondition, cellsOf, sumWindows, type Cells } from "./window-cells.ts";

/** Of the entries of a project and service: a number for each cell and level that has any. */
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
  const rows = await query.reader.query<GroupRow>(countStatement(counting), { signal, memory: { add: charge } });
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

/** Counters of a group in one array; more are counted by groups of their own, so that they take memory only where they count. */
const mostCounters = 16_384;

/**
 * Duplicates are removed while reading, which is cheap for merged parts. Arrays of counters are faster than groups by cell. A group
 * by one column of few values is faster than by its hash, and a group by one hash is faster than by several columns.
 */
function countStatement(counting: Counting): Statement {
  const { cells, condition, labels, request } = counting;
  const { lineFilters, measure } = request;
  const levels = levelCountOf(labels);
  const size = cells.count * levels;
  const level = levels === 1 ? sql`` : sql` * ${bind.uint8(levels)} + ${streamLevel}`;
  const place = sql`toUInt32(${cellOf(cells)}${level}) AS place`;
  const length = sql`if(body = '', length(event_name), length(body))`;
  const project = labels.has("project_name") ? sql`project` : undefined;
  const service = labels.has("service_name") ? sql`service` : undefined;
  const columns = [project, service].filter((column) => column !== undefined);
  const isInArrays = size <= mostCounters;
  const isByColumn = isInArrays && columns.length === 1;
  const key = isByColumn ? columns[0]! : hashOf(columns);
  const textOf = isByColumn ? textOfKey : anyOf;
  const readsLines = measure === "bytes" || lineFilters.length > 0;
  const group = sql`${textOf(project)} AS project_name, ${textOf(service)} AS service_name,
    ${readsLines ? sql`countIf(${hasStructuredBody})` : sql`0`} AS structured`;
  const rows = sql`FROM logs WHERE ${condition} AND ${cellsCondition(cells, request)}`;
  if (!isInArrays) {
    return sql`SELECT any(project_name) AS project, any(service_name) AS service, sum(structured) AS structured,
        groupArray(place) AS places, groupArray(found) AS entries, groupArray(total) AS bytes
      FROM (SELECT ${key} AS key, ${place}, ${group}, count() AS found, ${measure === "bytes" ? sql`sum(${length})` : sql`0`} AS total
        ${rows} GROUP BY key, place)
      GROUP BY key`;
  }
  const counters = bind.uint32(size);
  const sums = measure === "bytes" ? sql`sumResample(0, ${counters}, 1)(${length}, place)` : sql`counts`;
  return sql`SELECT project_name AS project, service_name AS service, structured,
      arrayFilter((at, found) -> found > 0, range(${counters}), counts) AS places,
      arrayFilter(found -> found > 0, counts) AS entries, arrayFilter((total, found) -> found > 0, sums, counts) AS bytes
    FROM (SELECT ${key} AS key, ${group}, countResample(0, ${counters}, 1)(${place}) AS counts, ${sums} AS sums
      ${rows} GROUP BY key)`;
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
      group.entries[cell] = Number(row.entries[index]);
      if (measure === "bytes") group.bytes[cell] = Number(row.bytes[index]);
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

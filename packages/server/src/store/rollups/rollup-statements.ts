/** Generates the statements that create the rollups' tables and fill them. */
import { engine, distributed, type Layout, onCluster, storedName, tableSettings } from "../table-layout.ts";
import { bind, callerOrganization, join, organizationParameterName, sql, type Statement } from "../statement.ts";
import { callHoursName, callMinutes } from "./call-minutes.ts";
import type { HourRange, Rollup } from "./rollup.ts";
import { rollups } from "./rollup-tables.ts";

function timeOf(seconds: string): string {
  return `toDateTime(${seconds}, 'UTC')`;
}

/** The text of a statement without parameters. */
function textOf(statement: Statement): string {
  const { parameters, text } = statement.render();
  if (parameters.size > 0) throw new TypeError(`A view cannot have parameters: ${text}`);
  return text;
}

/**
 * `row_touches` has the last time when rows of an hour were written. A view for each source fills it after the rows themselves are
 * written, within the same insert.
 */
function createTouches(layout: Layout): string[] {
  const table = storedName("row_touches", layout);
  return [
    `CREATE TABLE IF NOT EXISTS ${table}${onCluster(layout)} (
  organization LowCardinality(String),
  source LowCardinality(String),
  hour DateTime('UTC'),
  touched_unix_nano SimpleAggregateFunction(max, Int64),
  days SimpleAggregateFunction(max, UInt16)
) ENGINE = ${engine("AggregatingMergeTree", layout, undefined)}
ORDER BY (organization, source, hour)
TTL hour + toIntervalDay(days + 2)
SETTINGS ${tableSettings(layout)}`,
    ...distributed("row_touches", layout, ["organization"]),
    ...rollups
      .filter(({ touchedWith }) => touchedWith === undefined)
      .map(
        (rollup) =>
          `CREATE MATERIALIZED VIEW IF NOT EXISTS ${touchView(rollup, layout)}${onCluster(layout)} TO ${table} AS
${touchesOf(rollup, sourcesTouchedWith(rollup), storedName(rollup.table, layout))}`,
      ),
  ];
}

function touchView({ source }: Rollup, layout: Layout): string {
  return storedName(`${source}_touch`, layout);
}

/** One view serves all rollups of the same rows and hours: each view costs every insert some milliseconds. */
function sourcesTouchedWith({ source }: Rollup): string[] {
  return [source, ...rollups.filter(({ touchedWith }) => touchedWith === source).map((each) => each.source)];
}

function touchesOf({ touchedHours }: Rollup, sources: readonly string[], rows: string): string {
  const list = sources.map((source) => `'${source}'`).join(", ");
  return `SELECT organization, arrayJoin([${list}]) AS source, ${timeOf(`arrayJoin(${textOf(touchedHours)})`)} AS hour,
  max(toUnixTimestamp64Nano(now64(9))) AS touched_unix_nano, max(days) AS days
FROM ${rows} GROUP BY organization, source, hour`;
}

/** Makes the view of calls record the touches of spend, too, since `createRollups` ran without it; idempotent. */
export function touchSpend(layout: Layout): string[] {
  const rows = storedName(callMinutes.table, layout);
  return [
    `ALTER TABLE ${touchView(callMinutes, layout)}${onCluster(layout)} MODIFY QUERY ${touchesOf(callMinutes, sourcesTouchedWith(callMinutes), rows)}`,
  ];
}

/** `rollup_hours` has the valid generation of each hour, and the last write that it includes. */
function createHours(layout: Layout): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS ${storedName("rollup_hours", layout)}${onCluster(layout)} (
  organization LowCardinality(String),
  source LowCardinality(String),
  hour DateTime('UTC'),
  generation UInt64,
  touched_unix_nano Int64,
  days UInt16
) ENGINE = ${engine("ReplacingMergeTree", layout, "touched_unix_nano")}
ORDER BY (organization, source, hour)
TTL hour + toIntervalDay(days + 2)
SETTINGS ${tableSettings(layout)}`,
    ...distributed("rollup_hours", layout, ["organization"]),
  ];
}

function createSums(name: string, { groupedBy, level, sums }: Rollup, layout: Layout): string[] {
  const keys = Object.keys(groupedBy).filter((key) => key !== level);
  const columns = [...Object.entries(groupedBy), ...Object.entries(sums)].map(
    ([column, { type }]) => `${column} ${type}`,
  );
  return [
    `CREATE TABLE IF NOT EXISTS ${storedName(name, layout)}${onCluster(layout)} (
  organization LowCardinality(String),
  project LowCardinality(String),
  minute DateTime('UTC'),
  generation UInt64 CODEC(ZSTD(1)),
  ${columns.join(",\n  ")},
  days UInt16
) ENGINE = ${engine("MergeTree", layout, undefined)}
PARTITION BY toDate(minute)
ORDER BY (${["organization", "project", ...(level === undefined ? [] : [level]), "minute", ...keys].join(", ")})
TTL minute + toIntervalDay(days)
SETTINGS ${tableSettings(layout)}`,
    ...distributed(name, layout, ["organization"]),
  ];
}

/** Sums by hour, which a view makes of those by minute while these are written. */
function createCallHours(layout: Layout): string[] {
  return [
    ...createSums(callHoursName, callMinutes, layout),
    `CREATE MATERIALIZED VIEW IF NOT EXISTS ${storedName(callHoursView, layout)}${onCluster(layout)} TO ${storedName(callHoursName, layout)} AS
${sumsByHour(layout)}`,
  ];
}

const callHoursView = "call_hours_sums";

function sumsByHour(layout: Layout): string {
  const { groupedBy, name, sums } = callMinutes;
  const keys = Object.keys(groupedBy).join(", ");
  const totals = Object.entries(sums).map(
    ([column, { type }]) => `${type.startsWith("Map") ? "sumMap" : "sum"}(sums.${column}) AS ${column}`,
  );
  return `SELECT organization, project, toStartOfHour(sums.minute) AS minute, generation, ${keys}, ${totals.join(", ")}, max(sums.days) AS days
FROM ${storedName(name, layout)} AS sums GROUP BY organization, project, minute, generation, ${keys}`;
}

/** Adds sums that calls have got since `createRollups` ran; idempotent. */
export function addCallSums(columns: readonly string[], layout: Layout): string[] {
  const added = columns.map((column) => `ADD COLUMN IF NOT EXISTS ${column} ${callMinutes.sums[column]!.type}`);
  const names = [callMinutes.name, callHoursName].flatMap((name) => [...new Set([storedName(name, layout), name])]);
  return [
    ...names.map((name) => `ALTER TABLE ${name}${onCluster(layout)} ${added.join(", ")}`),
    `ALTER TABLE ${storedName(callHoursView, layout)}${onCluster(layout)} MODIFY QUERY ${sumsByHour(layout)}`,
  ];
}

/** Creates everything; idempotent and safe to run concurrently. */
export function createRollups(layout: Layout): string[] {
  return [
    ...rollups.flatMap((rollup) => createSums(rollup.name, rollup, layout)),
    ...createCallHours(layout),
    ...createHours(layout),
    ...createTouches(layout),
  ];
}

/** Records the hours of rows that were written before `createRollups`. */
export function touchExistingRows(sources: readonly Rollup["source"][]): string[] {
  return rollups
    .filter(({ source }) => sources.includes(source))
    .map((rollup) => `INSERT INTO row_touches ${touchesOf(rollup, [rollup.source], rollup.table)}`);
}

/** The names of the tables with tenants' rows that a statement can read. */
export const rollupTables: readonly string[] = [
  "row_touches",
  "rollup_hours",
  callHoursName,
  ...rollups.map(({ name }) => name),
];

/**
 * The hours that must be rolled up, newest first: they have ended, and the last write to them was `delay_nanos` ago. No insert takes
 * longer, so all rows of that write and of earlier ones can be read.
 * Parameters: `delay_nanos`. Columns: organization, source, hour in seconds, touched_unix_nano, days.
 */
export const staleHours = `SELECT organization, source, toUnixTimestamp(hour) AS seconds, toString(touched), days
FROM (
  SELECT organization, source, hour, max(touched_unix_nano) AS touched, max(days) AS days
  FROM row_touches GROUP BY organization, source, hour
) AS written
LEFT JOIN (
  SELECT organization, source, hour, max(touched_unix_nano) AS included
  FROM rollup_hours GROUP BY organization, source, hour
) AS rolled USING (organization, source, hour)
WHERE touched > included
  AND greatest(touched, (toInt64(toUnixTimestamp(hour)) + 3600) * 1000000000) + {delay_nanos:Int64} <= toUnixTimestamp64Nano(now64(9))
ORDER BY seconds DESC LIMIT 10000
FORMAT JSONCompactEachRow`;

interface FilledHour {
  readonly organization: string;
  readonly hour: HourRange;
  readonly generation: bigint;
}

/** Sums the rows of an hour of one organization. */
export function fillRollup(
  { groupedBy, minute, name, rows, sums }: Rollup,
  { generation, hour, organization }: FilledHour,
): { readonly text: string; readonly parameters: ReadonlyMap<string, string> } {
  const keys = Object.values(groupedBy).map(({ value }) => value);
  const totals = Object.values(sums).map(({ value }) => value);
  const columns = ["organization", "project", "minute", "generation", ...Object.keys(groupedBy), ...Object.keys(sums)];
  const list = (values: readonly Statement[]): Statement => join(values, sql`, `);
  const select = sql`SELECT ${callerOrganization}, project, toDateTime(${minute}, 'UTC') AS minute_start,
      ${bind.uint64(generation)}, ${list([...keys, ...totals])}, max(days)
    FROM ${rows(hour)} GROUP BY project, minute_start, ${list(keys)}`.render();
  select.parameters.set(organizationParameterName, organization);
  return { text: `INSERT INTO ${name} (${columns.join(", ")}, days)\n${select.text}`, parameters: select.parameters };
}

/** Declares a generation valid. Parameters: organization, source, seconds, generation, touched, days. */
export const registerHour = `INSERT INTO rollup_hours (organization, source, hour, generation, touched_unix_nano, days)
SELECT {organization:String}, {source:String}, toDateTime({seconds:UInt32}, 'UTC'), {generation:UInt64}, {touched:Int64}, {days:UInt16}`;

/**
 * The hours whose sums change if rows are deleted.
 * @param condition selects the rows, in SQL
 * Columns: hour in seconds, days.
 */
export function hoursOfRows({ table, touchedHours }: Rollup, condition: string): string {
  return `SELECT arrayJoin(${textOf(touchedHours)}) AS touched, max(days) FROM ${table} WHERE ${condition} GROUP BY touched
FORMAT JSONCompactEachRow`;
}

/** Makes the sums of hours invalid until they are made again. Parameters: organization, source, hours (seconds), days of each. */
export const touchHours = `INSERT INTO row_touches
SELECT {organization:String}, {source:String}, toDateTime(touched.1, 'UTC'), toUnixTimestamp64Nano(now64(9)), touched.2
FROM (SELECT arrayJoin(arrayZip({hours:Array(UInt32)}, {days:Array(UInt16)})) AS touched)`;

/** The same for all hours of an organization. Parameters: organization. */
export const touchOrganization = `INSERT INTO row_touches
SELECT organization, source, hour, toUnixTimestamp64Nano(now64(9)), max(days) AS days
FROM row_touches WHERE organization = {organization:String} GROUP BY organization, source, hour`;

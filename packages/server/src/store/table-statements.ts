/** Generates the statements that create the tables of schema.ts. */
import { rollupTables } from "./rollups/rollup-statements.ts";
import { tables } from "./schema.ts";
import type { TableDefinition } from "./table-definition.ts";
import { distributed, engine, type Layout, onCluster, storedName, tableSettings } from "./table-layout.ts";

/** The declaration of a column. */
export function columnDeclaration(
  name: string,
  { type, codec, expression }: TableDefinition["columns"][string],
): string {
  const value = expression === undefined ? "" : ` DEFAULT ${expression}`;
  return `${name} ${type.sql}${value}${codec === undefined ? "" : ` CODEC(${codec})`}`;
}

interface SkipIndex {
  readonly name: string;
  readonly declaration: string;
}

/** Min-max indexes of columns. */
function rangeIndexes({ rangedColumns = [] }: TableDefinition): SkipIndex[] {
  return rangedColumns.map((column) => ({
    name: `${column}_range`,
    declaration: `${column}_range ${column} TYPE minmax GRANULARITY 1`,
  }));
}

/** Bloom filters of columns; one of a hundred blocks without the value is read in vain. */
function searchIndexes({ searched = {} }: TableDefinition): SkipIndex[] {
  return Object.entries(searched).map(([column, expression]) => ({
    name: `${column}_search`,
    declaration: `${column}_search ${expression} TYPE bloom_filter(0.01) GRANULARITY 1`,
  }));
}

/** Bloom filters of parts of texts. Statements use them by `LIKE`. */
function textIndexes({ searchedText = {} }: TableDefinition): SkipIndex[] {
  return Object.entries(searchedText).map(([column, { bytes, characters, expression }]) => ({
    name: `${column}_search`,
    declaration: `${column}_search ${expression} TYPE ngrambf_v1(${characters}, ${bytes}, 2, 0) GRANULARITY 1`,
  }));
}

/** Adds indexes to tables that were created without. Existing parts get them in the background. */
function addIndexes(layout: Layout, indexesOf: (table: TableDefinition) => SkipIndex[]): string[] {
  return Object.values(tables).flatMap((table: TableDefinition) =>
    indexesOf(table).flatMap(({ declaration, name }) => {
      const alter = `ALTER TABLE ${storedName(table.name, layout)}${onCluster(layout)}`;
      return [`${alter} ADD INDEX IF NOT EXISTS ${declaration}`, `${alter} MATERIALIZE INDEX IF EXISTS ${name}`];
    }),
  );
}

export function addRangeIndexes(layout: Layout): string[] {
  return addIndexes(layout, rangeIndexes);
}

export function addSearchIndexes(layout: Layout): string[] {
  return addIndexes(layout, searchIndexes);
}

export function addTextIndexes(layout: Layout): string[] {
  return addIndexes(layout, (table) => {
    const indexes = textIndexes(table);
    return indexes.length === 0 ? [] : [...indexes, ...rangeIndexes(table)];
  });
}

export function addSpanIndexes(layout: Layout): string[] {
  return addIndexes(layout, (table) =>
    table === tables.spans ? [...searchIndexes(table), ...textIndexes(table)] : [],
  );
}

/** Indexes that cost as much as the rest of an insert, so that they are built only when parts are merged. */
export function indexesBuiltByMerges(): string[] {
  return Object.values(tables).flatMap((table: TableDefinition) => textIndexes(table).map(({ name }) => name));
}

/** When a row is deleted. */
export function expiryOf({ identity, timeColumn }: TableDefinition): string {
  return `toDateTime(${timeColumn}) + toIntervalDay(${identity === undefined ? "days" : "days + 2"})`;
}

/** When a row moves to another volume, as the continuation of `TTL`. Only partitioned tables: queries read the others all the time. */
export function moveOf({ timeColumn }: TableDefinition, { storage }: Layout): string {
  if (storage?.coldAfterDays === undefined) return "";
  return `, toDateTime(${timeColumn}) + toIntervalDay(${storage.coldAfterDays}) TO VOLUME '${storage.coldVolume}'`;
}

/**
 * Merges remove duplicate rows of a key, and `final` hides those that are not merged yet. Rows that describe others
 * (resources, scopes, series) are kept until the last data that can refer to them has expired.
 */
export function createTable(table: TableDefinition, layout: Layout): string[] {
  const columns = Object.entries(table.columns).map(([name, column]) => columnDeclaration(name, column));
  const indexes = [...rangeIndexes(table), ...searchIndexes(table), ...textIndexes(table)].map(
    ({ declaration }) => `INDEX ${declaration}`,
  );
  const version = table.identity === undefined ? undefined : table.timeColumn;
  const index = table.sortKey.slice(0, table.indexedColumns ?? table.sortKey.length);
  return [
    `CREATE TABLE IF NOT EXISTS ${storedName(table.name, layout)}${onCluster(layout)} (
  ${[...columns, ...indexes].join(",\n  ")}
) ENGINE = ${engine("ReplacingMergeTree", layout, version)}
${table.partitioned ? `PARTITION BY toDate(${table.timeColumn})\n` : ""}PRIMARY KEY (${index.join(", ")})
ORDER BY (${table.sortKey.join(", ")})
TTL ${expiryOf(table)}${table.partitioned ? moveOf(table, layout) : ""}
SETTINGS ${tableSettings(layout)}`,
    ...distributed(table.name, layout, table.shardColumns),
  ];
}

/** `trace_index`, and the view that fills it with one row per trace and insert. */
function createTraceIndex(layout: Layout): string[] {
  const name = storedName("trace_index", layout);
  return [
    `CREATE TABLE IF NOT EXISTS ${name}${onCluster(layout)} (
  organization LowCardinality(String),
  trace_id String CODEC(ZSTD(1)),
  project LowCardinality(String),
  first_start SimpleAggregateFunction(min, DateTime64(9, 'UTC')) CODEC(ZSTD(1)),
  last_start SimpleAggregateFunction(max, DateTime64(9, 'UTC')) CODEC(ZSTD(1)),
  days SimpleAggregateFunction(max, UInt16) CODEC(ZSTD(1))
) ENGINE = ${engine("AggregatingMergeTree", layout, undefined)}
PARTITION BY toDate(first_start)
ORDER BY (organization, trace_id, project)
TTL toDateTime(last_start) + toIntervalDay(days)
SETTINGS ${tableSettings(layout)}`,
    `CREATE MATERIALIZED VIEW IF NOT EXISTS ${storedName("trace_index_fill", layout)}${onCluster(layout)} TO ${name} AS
SELECT organization, trace_id, project, min(start_time) AS first_start, max(start_time) AS last_start, max(days) AS days
FROM ${storedName("spans", layout)}
GROUP BY organization, trace_id, project`,
    ...distributed("trace_index", layout, ["organization", "trace_id"]),
  ];
}

/** Creates everything in an empty database. Idempotent and safe to run concurrently. */
export function createTables(layout: Layout): string[] {
  return [...Object.values(tables).flatMap((table) => createTable(table, layout)), ...createTraceIndex(layout)];
}

/** The names of all tables with tenants' rows that a statement can read. */
export function readableTables(layout: Layout): string[] {
  const names = [...Object.keys(tables), "trace_index", ...rollupTables];
  return layout.cluster === undefined ? names : names.flatMap((name) => [name, storedName(name, layout)]);
}

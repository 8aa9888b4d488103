/**
 * Defines the column types of the store's tables: the name in SQL, and the writer that encodes values as a column of
 * ClickHouse's Native format (https://clickhouse.com/docs/interfaces/formats/Native), which the store reads twice as fast as
 * row formats.
 */
import { ArrayColumn, FixedColumn, MapColumn, StringColumn } from "./column-writers.ts";

/** A column type: `sql` in the table, `wire` in the blocks that we send. The store converts if they differ. */
export interface ColumnType<Writer> {
  readonly sql: string;
  readonly wire: string;
  readonly makeWriter: () => Writer;
}

function plain(sql: string, bytes: 1 | 2 | 4 | 8): ColumnType<FixedColumn> {
  return { sql, wire: sql, makeWriter: () => new FixedColumn(bytes) };
}

export const uint8 = plain("UInt8", 1);
export const uint16 = plain("UInt16", 2);
export const uint32 = plain("UInt32", 4);
export const uint64 = plain("UInt64", 8);
export const int32 = plain("Int32", 4);
export const float64 = plain("Float64", 8);
/** Nanoseconds since 1970 as a signed 64-bit integer: the bytes of an OTLP `fixed64` time. */
export const nanoseconds = plain("DateTime64(9, 'UTC')", 8);
/** Seconds since 1970 as an unsigned 32-bit integer. */
export const seconds: ColumnType<FixedColumn> = plain("DateTime('UTC')", 4);

export const text: ColumnType<StringColumn> = {
  sql: "String",
  wire: "String",
  makeWriter: () => new StringColumn(),
};

/** Text with few distinct values. */
export const label: ColumnType<StringColumn> = { ...text, sql: "LowCardinality(String)" };

/** Attributes: a map from names to values as text. A second column has the kind of each value. */
export const attributeMap: ColumnType<MapColumn> = {
  sql: "Map(LowCardinality(String), String)",
  wire: "Map(String, String)",
  makeWriter: () => new MapColumn(),
};

export function list<Writer extends FixedColumn | StringColumn | MapColumn>(
  item: ColumnType<Writer>,
): ColumnType<ArrayColumn<Writer>> {
  return {
    sql: `Array(${item.sql})`,
    wire: `Array(${item.wire})`,
    makeWriter: () => new ArrayColumn(item.makeWriter()),
  };
}

/** One of a few names, stored as a number. */
export function choice(names: Readonly<Record<string, number>>): ColumnType<FixedColumn> {
  const members = Object.entries(names).map(([name, number]) => `'${name}' = ${number}`);
  return { ...uint8, sql: `Enum8(${members.join(", ")})`, wire: `Enum8(${members.join(", ")})` };
}

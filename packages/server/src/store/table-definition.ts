/** How a table of the store is written down, and the columns that several tables have. */
import {
  attributeMap,
  type ColumnType,
  float64,
  label,
  nanoseconds,
  text,
  uint16,
  uint32,
  uint64,
} from "./column-types.ts";

export interface Column<Writer = unknown> {
  readonly type: ColumnType<Writer>;
  readonly codec?: string;
}
export type Columns = Readonly<Record<string, Column>>;

export interface TableDefinition<Definition extends Columns = Columns> {
  readonly name: string;
  readonly columns: Definition;
  /** Of equal keys one row counts; the newest where there is a difference. */
  readonly sortKey: readonly string[];
  /** As many of the sort key's first columns as the index in memory holds; all when absent. */
  readonly indexedColumns?: number;
  /** Columns of which the store keeps the least and greatest value of each 8192 rows, to skip those that cannot match. */
  readonly rangedColumns?: readonly string[];
  /** The time that decides about the day's partition and, with `days`, about the end. Absent: no partitions. */
  readonly timeColumn: string;
  readonly partitioned: boolean;
  /** Which columns place a row on a shard of a cluster: part of the sort key, so that doubles meet. */
  readonly shardColumns: readonly string[];
  /** Rows that describe others and repeat: the column with their hash. A writer skips those that the store knows. */
  readonly identity?: string;
}

export function column<Writer>(type: ColumnType<Writer>, codec?: string): Column<Writer> {
  return codec === undefined ? { type } : { type, codec };
}

export function defineTable<const Definition extends Columns>(
  definition: TableDefinition<Definition>,
): TableDefinition<Definition> {
  return definition;
}

export const time = column(nanoseconds, "Delta, ZSTD(1)");
export const id = column(text, "ZSTD(1)");
export const name = column(label);
export const content = column(text, "ZSTD(1)");
export const attributes = column(attributeMap, "ZSTD(1)");
export const attributeTypes = column(text, "ZSTD(1)");
export const count = column(uint32, "ZSTD(1)");
export const hash = column(uint64, "ZSTD(1)");
export const number = column(float64, "ZSTD(1)");

/** What every row begins with and its retention in days. */
export const tenant = { organization: name, project: name } as const;
export const retention = { days: column(uint16, "ZSTD(1)") } as const;

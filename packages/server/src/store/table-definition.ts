/** Defines the form of table definitions, and the columns that several tables share. */
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
  /** The value in rows that were written before the column existed. */
  readonly expression?: string;
}
export type Columns = Readonly<Record<string, Column>>;

export interface TableDefinition<Definition extends Columns = Columns> {
  readonly name: string;
  readonly columns: Definition;
  /** Of rows with equal keys one counts; if they differ, the newest. */
  readonly sortKey: readonly string[];
  /** The number of leading sort key columns in the in-memory index; all if absent. */
  readonly indexedColumns?: number;
  /** Columns with a min-max index per 8192 rows, to skip rows that cannot match. */
  readonly rangedColumns?: readonly string[];
  /** Expressions, by column, with a Bloom filter of their values per 8192 rows, to find the few rows with a value. */
  readonly searched?: Readonly<Record<string, string>>;
  /** Texts, by column, with a Bloom filter of their parts per 8192 rows, to find the few rows with a part. */
  readonly searchedText?: Readonly<Record<string, SearchedText>>;
  /** The time that determines the day's partition and, with `days`, the expiry. */
  readonly timeColumn: string;
  readonly partitioned: boolean;
  /** The columns that determine a row's shard in a cluster. Part of the sort key, so that duplicates share a shard. */
  readonly shardColumns: readonly string[];
  /** For rows that describe others and repeat: the column with their hash. Writers skip rows that are stored already. */
  readonly identity?: string;
}

export interface SearchedText {
  readonly expression: string;
  /** The length of the parts, in characters. Shorter texts cannot be searched for by the index. */
  readonly characters: number;
  /** The size of a filter. */
  readonly bytes: number;
}

export function column<Writer>(type: ColumnType<Writer>, codec?: string): Column<Writer> {
  return codec === undefined ? { type } : { type, codec };
}

/** @param expression the value in rows that were written before the column existed */
export function derived<Writer>(definition: Column<Writer>, expression: string): Column<Writer> {
  return { ...definition, expression };
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

/** The first columns of every row, and its retention in days. */
export const tenant = { organization: name, project: name } as const;
export const retention = { days: column(uint16, "ZSTD(1)") } as const;

/**
 * Encodes rows of a table as a block of ClickHouse's Native format. Columns are written by name in any order; columns that a
 * row leaves out get the type's default. Blocks are joined by concatenating their bytes.
 */
import type { ColumnType } from "./column-types.ts";
import { type ColumnWriter, type FixedColumn, writeVarint } from "./column-writers.ts";
import type { Columns, TableDefinition } from "./table-definition.ts";

/** The writers of a table's columns, by name. */
export type ColumnWriters<Definition extends Columns> = {
  readonly [Name in keyof Definition]: Definition[Name]["type"] extends ColumnType<infer Writer> ? Writer : never;
};

function header(name: string): Uint8Array {
  const bytes = Buffer.allocUnsafe(Buffer.byteLength(name) + 5);
  const at = writeVarint(bytes, 0, Buffer.byteLength(name));
  return bytes.subarray(0, at + bytes.write(name, at, "utf8"));
}

/** Fill `columns`, call `endRow` after each row, and `finish` at the end. */
export class BlockWriter<Definition extends Columns> {
  readonly table: TableDefinition<Definition>;
  readonly columns: ColumnWriters<Definition>;
  readonly #writers: readonly ColumnWriter[];
  rowCount = 0;

  constructor(table: TableDefinition<Definition>) {
    this.table = table;
    const writers = Object.entries(table.columns).map(([name, column]): [string, ColumnWriter] => [
      name,
      column.type.makeWriter() as ColumnWriter,
    ]);
    this.#writers = writers.map(([, writer]) => writer);
    this.columns = Object.fromEntries(writers) as ColumnWriters<Definition>;
  }

  /** Bytes of memory allocated by the columns. */
  get capacity(): number {
    return this.#writers.reduce((sum, writer) => sum + writer.capacity, 0);
  }

  /** How many days the rows are in; undefined if the table is not divided into days. */
  dayCount(): number | undefined {
    const { partitioned, timeColumn } = this.table;
    if (!partitioned) return undefined;
    // Times are columns of fixed width.
    return (this.columns[timeColumn] as FixedColumn).dayCount();
  }

  /** Removes all rows and keeps the memory for the next ones. */
  clear(): void {
    this.rowCount = 0;
    for (const writer of this.#writers) writer.clear();
  }

  /** Ends a row. Columns that were not written get their default. */
  endRow(): void {
    this.rowCount += 1;
    for (const writer of this.#writers) if (writer.count < this.rowCount) writer.addDefault();
  }

  /**
   * The block's bytes.
   * @throws Error if a column was written twice for one row, which is a bug of the caller; nothing is stored then
   */
  finish(): Buffer {
    const start = Buffer.allocUnsafe(12);
    const names = Object.entries(this.table.columns);
    const parts: Uint8Array[] = [
      start.subarray(0, writeVarint(start, writeVarint(start, 0, names.length), this.rowCount)),
    ];
    for (const [index, [name, column]] of names.entries()) {
      const writer = this.#writers[index]!;
      if (writer.count !== this.rowCount) {
        throw new Error(`The column ${name} has ${writer.count} values for ${this.rowCount} rows.`);
      }
      parts.push(header(name), header(column.type.wire), ...writer.parts());
    }
    return Buffer.concat(parts);
  }
}

/** How many idle blocks are kept for each table, and how large each can be. */
const idleBlocks = 4;
const idleBytes = 2_097_152;

/** Pools blocks, so that requests need not allocate the memory of some forty columns. */
export class BlockPool {
  readonly #idle = new Map<TableDefinition, BlockWriter<Columns>[]>();

  /** An empty block. */
  take<Definition extends Columns>(table: TableDefinition<Definition>): BlockWriter<Definition> {
    // A table's entry has only blocks of that table.
    const idle = this.#idle.get(table)?.pop() as BlockWriter<Definition> | undefined;
    return idle ?? new BlockWriter(table);
  }

  /** Returns a block that is no longer used. */
  give(block: BlockWriter<Columns>): void {
    if (block.capacity > idleBytes) return;
    let idle = this.#idle.get(block.table);
    if (idle === undefined) this.#idle.set(block.table, (idle = []));
    if (idle.length >= idleBlocks) return;
    block.clear();
    idle.push(block);
  }
}

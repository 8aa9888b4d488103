/**
 * Rows on their way into a table, encoded as one block of ClickHouse's Native format. Columns are written by name in any
 * order; what a row leaves out gets the type's default. Blocks are joined by putting their bytes one behind the other.
 */
import type { ColumnType } from "./column-types.ts";
import { type ColumnWriter, writeVarint } from "./column-writers.ts";
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

/** A block being written: fill `columns`, call `endRow` after each row, take `finish()` at the end. */
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

  /** Bytes of memory that the columns hold. */
  get capacity(): number {
    return this.#writers.reduce((sum, writer) => sum + writer.capacity, 0);
  }

  /** Forgets all rows and keeps the memory for others. */
  clear(): void {
    this.rowCount = 0;
    for (const writer of this.#writers) writer.clear();
  }

  /** Ends a row; columns that it did not write get their default. */
  endRow(): void {
    this.rowCount += 1;
    for (const writer of this.#writers) if (writer.count < this.rowCount) writer.addDefault();
  }

  /**
   * The block's bytes.
   * @throws Error when a column was written twice for one row: a fault of the caller, before anything is stored
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

/** Blocks of a table whose memory is kept, and the largest that is. */
const idleBlocks = 4;
const idleBytes = 2_097_152;

/** Lends blocks, so that the memory of some forty columns is not made and collected for every request. */
export class BlockPool {
  readonly #idle = new Map<TableDefinition, BlockWriter<Columns>[]>();

  /** An empty block. */
  take<Definition extends Columns>(table: TableDefinition<Definition>): BlockWriter<Definition> {
    // Under a table stand blocks of that table alone.
    const idle = this.#idle.get(table)?.pop() as BlockWriter<Definition> | undefined;
    return idle ?? new BlockWriter(table);
  }

  /** Takes back a block that nobody uses any more. */
  give(block: BlockWriter<Columns>): void {
    if (block.capacity > idleBytes) return;
    let idle = this.#idle.get(block.table);
    if (idle === undefined) this.#idle.set(block.table, (idle = []));
    if (idle.length >= idleBlocks) return;
    block.clear();
    idle.push(block);
  }
}

/** Collects one organization's telemetry rows, table by table, and hands them out as batches for the store. */
import { BlockPool, type BlockWriter } from "../../store/block.ts";
import type { TableName } from "../../store/schema.ts";
import type { Batch, Store } from "../../store/store.ts";
import type { Columns, TableDefinition } from "../../store/table-definition.ts";

/** A block is closed at this size, so that closing one never takes long. */
const rowsPerBlock = 4096;

type AnyBlock = BlockWriter<Columns>;

const pool = new BlockPool();

export interface RowBuilderOptions {
  readonly organizationId: string;
  /** UNIX milliseconds. */
  readonly nowMs: number;
  readonly store: Pick<Store, "isKnown">;
}

export class RowBuilder {
  readonly organizationId: string;
  /** The ID's bytes, as every row has them. */
  readonly organization: Uint8Array;
  /** UNIX milliseconds of the records' arrival. */
  readonly nowMs: number;
  readonly #store: Pick<Store, "isKnown">;
  readonly #open = new Map<string, AnyBlock>();
  readonly #closed: Batch[] = [];
  readonly #identities = new Map<string, Set<bigint>>();

  constructor({ organizationId, nowMs, store }: RowBuilderOptions) {
    this.organizationId = organizationId;
    this.organization = Buffer.from(organizationId, "utf8");
    this.nowMs = nowMs;
    this.#store = store;
  }

  /** The block for the table's next row. Ask for it again for every row. */
  block<Definition extends Columns>(table: TableDefinition<Definition>): BlockWriter<Definition> {
    const { name } = table;
    const open = this.#open.get(name);
    if (open !== undefined && open.rowCount < rowsPerBlock) return open as unknown as BlockWriter<Definition>;
    if (open !== undefined) this.#close(name, open);
    const block = pool.take(table);
    this.#open.set(name, block);
    return block;
  }

  /** Whether the row with this identity must be written: neither the store nor this builder has it. */
  isNew(table: TableName, identity: bigint): boolean {
    let written = this.#identities.get(table);
    if (written?.has(identity) === true || this.#store.isKnown(table, this.organizationId, identity)) return false;
    if (written === undefined) this.#identities.set(table, (written = new Set()));
    written.add(identity);
    return true;
  }

  /** All rows. Nothing can be added afterwards. */
  finish(): readonly Batch[] {
    for (const name of referredTables) {
      const block = this.#open.get(name);
      if (block !== undefined) this.#close(name, block);
      this.#open.delete(name);
    }
    for (const [name, block] of this.#open) this.#close(name, block);
    this.#open.clear();
    return this.#closed;
  }

  #close(name: string, block: AnyBlock): void {
    const table = name as TableName;
    const identities = this.#identities.get(table);
    this.#identities.delete(table);
    if (block.rowCount === 0) return;
    this.#closed.push({
      organizationId: this.organizationId,
      table,
      block: block.finish(),
      rowCount: block.rowCount,
      dayCount: block.dayCount(),
      identities: identities === undefined ? undefined : [...identities],
    });
    pool.give(block);
  }
}

/** These tables are sent first, so that a query that sees a record can also see what it refers to. */
const referredTables: readonly TableName[] = ["resources", "scopes", "series", "span_details"];

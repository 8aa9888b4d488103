/** What becomes of one request: the rows for each table, and the records that were rejected, with the reasons. */
import { BlockPool, type BlockWriter } from "../../store/block.ts";
import type { TableName } from "../../store/schema.ts";
import type { Batch, Store } from "../../store/store.ts";
import type { Columns, TableDefinition } from "../../store/table-definition.ts";
import type { Hash64 } from "./hash64.ts";

/** A block is closed at this size, so that closing one never takes long. */
const rowsPerBlock = 4096;
/** Reasons named in an answer; more are summed up. */
const maximumReasons = 8;

type AnyBlock = BlockWriter<Columns>;

const pool = new BlockPool();

export class ExportBuilder {
  readonly organizationId: string;
  /** The ID's bytes, as every row has them. */
  readonly organization: Uint8Array;
  /** UNIX milliseconds of the request's arrival. */
  readonly nowMs: number;
  readonly #store: Pick<Store, "isKnown">;
  readonly #open = new Map<string, AnyBlock>();
  readonly #closed: Batch[] = [];
  readonly #identities = new Map<string, Set<bigint>>();
  readonly #reasons = new Map<string, number>();
  accepted = 0;
  rejected = 0;

  constructor(options: { organizationId: string; nowMs: number; store: Pick<Store, "isKnown"> }) {
    this.organizationId = options.organizationId;
    this.organization = Buffer.from(options.organizationId, "utf8");
    this.nowMs = options.nowMs;
    this.#store = options.store;
  }

  /** The block that the table's next row goes to. To be asked for every row. */
  block<Definition extends Columns>(table: TableDefinition<Definition>): BlockWriter<Definition> {
    const { name } = table;
    const open = this.#open.get(name);
    if (open !== undefined && open.rowCount < rowsPerBlock) return open as unknown as BlockWriter<Definition>;
    if (open !== undefined) this.#close(name, open);
    const block = pool.take(table);
    this.#open.set(name, block);
    return block;
  }

  /** Whether the row with this identity must be written: the store does not know it, nor has this request written it. */
  isNew(table: TableName, hash: Hash64): boolean {
    const identity = hash.toBigInt();
    let written = this.#identities.get(table);
    if (written?.has(identity) === true || this.#store.isKnown(table, this.organizationId, identity)) return false;
    if (written === undefined) this.#identities.set(table, (written = new Set()));
    written.add(identity);
    return true;
  }

  /** @param reason completes "2 spans rejected: 1 …" */
  reject(reason: string, count = 1): void {
    this.rejected += count;
    const known = this.#reasons.get(reason);
    const key = known === undefined && this.#reasons.size >= maximumReasons ? "for other reasons" : reason;
    this.#reasons.set(key, (this.#reasons.get(key) ?? 0) + count);
  }

  /**
   * Why records were rejected; undefined when none was.
   * @param items what is counted, in the plural: `spans`
   */
  rejection(items: string): string | undefined {
    if (this.rejected === 0) return undefined;
    const records = this.rejected === 1 ? items.replace(/s$/, "") : items;
    const reasons = [...this.#reasons].map(([reason, count]) => `${count} ${reason}`);
    return `${this.rejected} ${records} rejected: ${reasons.join(", ")}`;
  }

  /** All rows. Nothing may be added afterwards. */
  finish(): readonly Batch[] {
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
      identities: identities === undefined ? undefined : [...identities],
    });
    pool.give(block);
  }
}

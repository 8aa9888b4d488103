/** A store that records its batches and returns them as rows; it can be made to wait or to fail. */
import { targetInfo } from "../../src/store/metric-tables.ts";
import type { TableName } from "../../src/store/schema.ts";
import type { Batch } from "../../src/store/store.ts";
import type { RowStore } from "../../src/telemetry/otlp/ingest.ts";
import { type BlockRow, readBlock } from "./block-reader.ts";

export class RecordingStore implements RowStore {
  readonly batches: Batch[] = [];
  /** Called before a batch is stored; what it throws is what `append` throws. */
  beforeAppend: (batch: Batch) => void | Promise<void> = () => {};
  readonly #known = new Set<string>();

  async append(batch: Batch): Promise<void> {
    await this.beforeAppend(batch);
    this.batches.push(batch);
    for (const identity of batch.identities ?? [])
      this.#known.add(`${batch.table} ${batch.organizationId} ${identity}`);
  }

  isKnown(table: TableName, organizationId: string, identity: bigint): boolean {
    return this.#known.has(`${table} ${organizationId} ${identity}`);
  }

  /** Without those of `target_info`, which nobody sent. */
  rows(table: TableName): BlockRow[] {
    const rows = this.batches.filter((batch) => batch.table === table).flatMap((batch) => readBlock(batch.block));
    return rows.filter((row) => row["metric"] !== targetInfo.metric);
  }
}

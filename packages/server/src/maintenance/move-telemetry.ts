/**
 * Copies telemetry from one store to another: first everything, then, pass by pass, the files that are new. What a pass misses, the
 * comparison finds (compare-telemetry.ts). docs/adr/0042-deletion-backup-and-move.md
 */
import { randomUUID } from "node:crypto";
import { copyFile, link, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { StoredPartition } from "../store/transfer/store-partitions.ts";
import { columnsOf, nameOf, tablesInOrder, type TablePart } from "../store/transfer/telemetry-transfer.ts";
import type { MaintenanceProgress } from "./create-backup.ts";
import type { OpenTelemetryStore } from "./installation.ts";
import type { MoveCheckpoint } from "./move-checkpoint.ts";

export interface TelemetryMove {
  readonly source: OpenTelemetryStore;
  readonly target: OpenTelemetryStore;
  readonly checkpoint: MoveCheckpoint;
  /** For files while they are copied. */
  readonly scratch: string;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: MaintenanceProgress) => void;
}

interface NewRows {
  readonly partition: StoredPartition;
  readonly rows: number;
  readonly bytes: number;
  /** Only files with higher numbers are new; undefined: all. */
  readonly afterBlock: number | undefined;
  /** Whether rows that were copied may have changed or gone since. */
  readonly isChanged: boolean;
}

/** What the target lacks of the partitions. */
export function newRows(partitions: readonly StoredPartition[], checkpoint: MoveCheckpoint): NewRows[] {
  const found = partitions.flatMap((partition): NewRows[] => {
    const { bytes, files, lastBlock, mutations, part, rows } = partition;
    const before = checkpoint.copied(part);
    if (before === undefined) return [{ partition, rows, bytes, afterBlock: undefined, isChanged: false }];
    if (before.mutations !== mutations) return [{ partition, rows, bytes, afterBlock: undefined, isChanged: true }];
    if (before.lastBlock === lastBlock) return [];
    const later = files.filter((file) => file.lastBlock > before.lastBlock);
    return [
      {
        partition,
        rows: later.reduce((sum, file) => sum + file.rows, 0),
        bytes: later.reduce((sum, file) => sum + file.bytes, 0),
        afterBlock: before.lastBlock,
        isChanged: false,
      },
    ];
  });
  return found.toSorted(
    (left, right) =>
      tablesInOrder.indexOf(left.partition.part.table) - tablesInOrder.indexOf(right.partition.part.table) ||
      nameOf(left.partition.part).localeCompare(nameOf(right.partition.part), "en"),
  );
}

/** Copies what is new once. Resolves with the number of rows. */
export async function copyNewRows(move: TelemetryMove): Promise<number> {
  const { checkpoint, onProgress, signal, source, target } = move;
  const partitions = await source.partitions.list(signal);
  const existing = new Set(partitions.map(({ part }) => nameOf(part)));
  for (const part of checkpoint.parts().filter((each) => !existing.has(nameOf(each)))) {
    await checkpoint.forget(part);
    await target.partitions.remove(part, signal);
  }
  const found = newRows(partitions, checkpoint);
  const totalRows = found.reduce((sum, { rows }) => sum + rows, 0);
  let doneRows = 0;
  for (const { afterBlock, isChanged, partition, rows } of found) {
    onProgress({ part: nameOf(partition.part), doneRows, totalRows });
    if (isChanged) await copyAgain(move, partition.part, partition);
    else {
      if (rows > 0) await copyPart(move, partition.part, afterBlock);
      await checkpoint.setCopied(partition);
    }
    doneRows += rows;
  }
  if (totalRows > 0) onProgress({ part: "telemetry", doneRows, totalRows });
  return totalRows;
}

/** @param partition what the source had before; undefined: nothing */
export async function copyAgain(
  move: TelemetryMove,
  part: TablePart,
  partition: StoredPartition | undefined,
): Promise<void> {
  await move.checkpoint.forget(part);
  await move.target.partitions.remove(part, move.signal);
  if (partition === undefined) return;
  await copyPart(move, part, undefined);
  await move.checkpoint.setCopied(partition);
}

async function copyPart(
  { scratch, signal, source, target }: TelemetryMove,
  part: TablePart,
  afterBlock: number | undefined,
): Promise<void> {
  const insert = async (exported: string): Promise<void> => {
    // The target's engine reads files of its own folder only.
    const path = target.transfer.inputPath(dirname(exported));
    try {
      await link(exported, path).catch(() => copyFile(exported, path));
      // Rows that are inserted twice replace themselves. A token that repeats would drop rows of a part that was emptied meanwhile.
      await target.transfer.insert({ part, columns: columnsOf(part.table), path, token: randomUUID() }, { signal });
    } finally {
      await rm(path, { force: true });
    }
  };
  await source.transfer.exported(part, { afterBlock, signal }, insert, scratch);
}

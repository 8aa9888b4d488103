/** Copies the control database in one transaction, and compares the copy with the original. docs/adr/0042-deletion-backup-and-move.md */
import { createHash } from "node:crypto";
import { AppError } from "../errors.ts";
import type { ControlDatabase } from "../tenancy/control-database.ts";
import { type ControlRow, readControlRows, writeAllControlRows } from "../tenancy/control-rows.ts";
import type { MoveCheckpoint } from "./move-checkpoint.ts";
import { requireNoOrganization } from "./move-target.ts";

interface ControlMove {
  readonly source: ControlDatabase;
  readonly target: ControlDatabase;
  readonly checkpoint: MoveCheckpoint;
  readonly signal: AbortSignal;
}

/** Resolves with the number of rows. @throws AppError internal if the copy differs, or the signal's reason */
export async function moveControl({ checkpoint, signal, source, target }: ControlMove): Promise<number> {
  const rows = await readControlRows(source, undefined, signal);
  // What an interrupted attempt wrote may be out of date: the old server may have run since.
  const replaces = checkpoint.controlBegun;
  if (!replaces) await requireNoOrganization(target);
  await checkpoint.beginControl();
  await writeAllControlRows(target, rows, { replaces });
  const copied = tablesOf(await readControlRows(target, undefined, signal));
  for (const [table, { checksum, count }] of tablesOf(rows)) {
    const copy = copied.get(table) ?? { count: 0, checksum: "" };
    if (copy.count === count && copy.checksum === checksum) continue;
    throw new AppError(
      "internal",
      `The target has ${copy.count} rows of ${table} in its control database, and the source has ${count}${copy.count === count ? ", with other values" : ""}. Run the command again.`,
    );
  }
  return rows.length;
}

interface TableSum {
  readonly count: number;
  readonly checksum: string;
}

/** The databases may order rows in different ways. */
function tablesOf(rows: readonly ControlRow[]): Map<string, TableSum> {
  const sums = new Map<string, TableSum>();
  for (const [table, ofTable] of Map.groupBy(rows, (row) => row.table)) {
    const hash = createHash("sha256");
    const lines = ofTable.map(({ values }) =>
      JSON.stringify(Object.entries(values).toSorted(([left], [right]) => (left < right ? -1 : 1))),
    );
    for (const line of lines.toSorted()) hash.update(`${line}\n`);
    sums.set(table, { count: ofTable.length, checksum: hash.digest("hex") });
  }
  return sums;
}

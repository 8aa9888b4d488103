/** Removes the oldest entries of the audit log. The hash of the last one stays, so that the rest can be verified. */
import type { ControlDatabase } from "../control-database.ts";
import { appendEntries, headId, pruneAction, systemEntry } from "./chain.ts";

/** In one transaction, which others wait for. */
const mostRows = 1000;

/**
 * Removes entries from before this time, from the oldest on, and records that. Call it again until it returns 0.
 * @returns the number of entries
 */
export async function pruneEvents(control: Pick<ControlDatabase, "write">, beforeMs: number): Promise<number> {
  return await control.write(async (transaction) => {
    const oldest = await transaction
      .selectFrom("audit_events")
      .select(["sequence", "time_ms", "hash"])
      .orderBy("sequence")
      .limit(mostRows)
      .execute();
    // A clock that was set back leaves later entries with earlier times.
    const kept = oldest.findIndex(({ time_ms }) => time_ms >= beforeMs);
    const pruned = kept === -1 ? oldest : oldest.slice(0, kept);
    const last = pruned.at(-1);
    if (last === undefined) return 0;
    await transaction.deleteFrom("audit_events").where("sequence", "<=", last.sequence).execute();
    const details = { entries: pruned.length, last_sequence: last.sequence, last_hash: last.hash };
    await appendEntries(transaction, [systemEntry(pruneAction, details)]);
    await transaction
      .updateTable("audit_head")
      .set({ pruned_sequence: last.sequence, pruned_hash: last.hash })
      .where("id", "=", headId)
      .execute();
    return pruned.length;
  });
}

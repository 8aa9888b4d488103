/**
 * Appends entries to the audit log. The row of `audit_head` is locked until the transaction ends, so that the chain of hashes is
 * linear, also if several servers append. docs/adr/0243-audit-log.md
 */
import type { Writer } from "../database-access.ts";
import { type AuditEntry, firstHash, hashOf, noObject, systemActor, toRow } from "./entry.ts";

/** The only row of `audit_head`. */
export const headId = 1;
/** Of the entry that says which entries were pruned. */
export const pruneAction = "pruneAudit";

/** Call it last in a transaction: nothing may be locked after the head. */
export async function appendEntries(transaction: Writer, entries: readonly AuditEntry[]): Promise<void> {
  const added = await requireHead(transaction, entries);
  const head = await transaction
    .updateTable("audit_head")
    .set((where) => ({ sequence: where("sequence", "+", added.length) }))
    .where("id", "=", headId)
    .returning(["sequence", "hash"])
    .executeTakeFirstOrThrow();
  let previous = head.hash;
  let sequence = head.sequence - added.length;
  for (const entry of added) {
    sequence += 1;
    const row = { ...toRow(entry), sequence, previous_hash: previous };
    previous = hashOf(row);
    await transaction
      .insertInto("audit_events")
      .values({ ...row, hash: previous })
      .execute();
  }
  await transaction.updateTable("audit_head").set({ hash: previous }).where("id", "=", headId).execute();
}

/** Somebody who removed the head must not make administration impossible; what happened to it is recorded. */
async function requireHead(transaction: Writer, entries: readonly AuditEntry[]): Promise<readonly AuditEntry[]> {
  const head = await transaction.selectFrom("audit_head").select("id").where("id", "=", headId).executeTakeFirst();
  if (head !== undefined) return entries;
  const last = await transaction
    .selectFrom("audit_events")
    .select(["sequence", "hash"])
    .orderBy("sequence", "desc")
    .limit(1)
    .executeTakeFirst();
  const { sequence, hash } = last ?? { sequence: 0, hash: firstHash };
  const inserted = await transaction
    .insertInto("audit_head")
    .values({ id: headId, sequence, hash, pruned_sequence: 0, pruned_hash: firstHash })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .returning("id")
    .executeTakeFirst();
  if (inserted === undefined) return entries;
  return [systemEntry("replaceMissingAuditHead", { sequence, hash }), ...entries];
}

/** What the server does itself. */
export function systemEntry(action: string, details: AuditEntry["details"]): AuditEntry {
  return {
    actor: systemActor,
    organizationId: null,
    address: null,
    userAgent: null,
    action,
    object: noObject,
    outcome: "done",
    code: null,
    count: 1,
    before: null,
    after: null,
    details,
  };
}

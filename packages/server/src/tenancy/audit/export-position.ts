/** How far the audit log is exported, and what comes next. */
import type { ControlDatabase } from "../control-database.ts";
import { headId } from "./chain.ts";
import type { AuditRow } from "./entry.ts";

export interface ExportableEvents {
  readonly events: readonly AuditRow[];
  /** Entries that were pruned before they were exported. */
  readonly missed: number;
}

/** The entries after the last exported one, oldest first. */
export async function nextEvents(control: ControlDatabase, limit: number): Promise<ExportableEvents> {
  return await control.read(async (database) => {
    const position = await database
      .selectFrom("audit_export")
      .select("sequence")
      .where("id", "=", headId)
      .executeTakeFirst();
    const exported = position?.sequence ?? 0;
    const events = await database
      .selectFrom("audit_events")
      .selectAll()
      .where("sequence", ">", exported)
      .orderBy("sequence")
      .limit(limit)
      .execute();
    return { events, missed: Math.max(0, (events[0]?.sequence ?? 0) - exported - 1) };
  });
}

export async function saveExported(control: ControlDatabase, sequence: number): Promise<void> {
  await control.write(async (transaction) => {
    await transaction
      .insertInto("audit_export")
      .values({ id: headId, sequence })
      .onConflict((conflict) => conflict.column("id").doUpdateSet({ sequence }))
      .execute();
  });
}

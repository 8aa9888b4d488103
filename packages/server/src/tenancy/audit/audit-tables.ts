/** The migration that creates the tables of the audit log. Released ones are never edited. */
import type { Kysely } from "kysely";
import type { ControlTables } from "../tables.ts";
import { headId } from "./chain.ts";
import { firstHash } from "./entry.ts";

export async function createAuditTables(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  await schema
    .createTable("audit_events")
    .addColumn("sequence", "bigint", (column) => column.primaryKey())
    .addColumn("id", "text", (column) => column.notNull().unique())
    .addColumn("time_ms", "bigint", (column) => column.notNull())
    .addColumn("actor_kind", "text", (column) => column.notNull())
    .addColumn("actor_id", "text")
    .addColumn("actor_name", "text")
    .addColumn("actor_organization_id", "text")
    .addColumn("organization_id", "text")
    .addColumn("address", "text")
    .addColumn("user_agent", "text")
    .addColumn("action", "text", (column) => column.notNull())
    .addColumn("object_kind", "text")
    .addColumn("object_id", "text")
    .addColumn("object_name", "text")
    .addColumn("outcome", "text", (column) => column.notNull())
    .addColumn("code", "text")
    .addColumn("count", "bigint", (column) => column.notNull())
    .addColumn("previous_hash", "text", (column) => column.notNull())
    .addColumn("hash", "text", (column) => column.notNull())
    .addColumn("details", "text", (column) => column.notNull())
    // Last: to read what follows a large value, SQLite reads all of it.
    .addColumn("before_state", "text")
    .addColumn("after_state", "text")
    .execute();
  await schema
    .createIndex("audit_events_organization")
    .on("audit_events")
    .columns(["organization_id", "sequence"])
    .execute();
  await schema
    .createTable("audit_head")
    .addColumn("id", "integer", (column) => column.primaryKey())
    .addColumn("sequence", "bigint", (column) => column.notNull())
    .addColumn("hash", "text", (column) => column.notNull())
    .addColumn("pruned_sequence", "bigint", (column) => column.notNull())
    .addColumn("pruned_hash", "text", (column) => column.notNull())
    .execute();
  await schema
    .createTable("audit_export")
    .addColumn("id", "integer", (column) => column.primaryKey())
    .addColumn("sequence", "bigint", (column) => column.notNull())
    .execute();
  const tables = database as Kysely<ControlTables>;
  await tables
    .insertInto("audit_head")
    .values({ id: headId, sequence: 0, hash: firstHash, pruned_sequence: 0, pruned_hash: firstHash })
    .execute();
  await tables.insertInto("audit_export").values({ id: headId, sequence: 0 }).execute();
}

/** The migration that creates the tables of budgets. Released ones are never edited. */
import type { Kysely } from "kysely";

export async function createBudgets({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable("budgets")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("organization_id", "text", (column) => column.notNull().references("organizations.id"))
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("definition", "text", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("updated_at", "bigint", (column) => column.notNull())
    .addUniqueConstraint("budgets_name", ["organization_id", "name"])
    .execute();
  await schema
    .createTable("budget_usage")
    .addColumn("budget_id", "text", (column) => column.notNull())
    .addColumn("period", "text", (column) => column.notNull())
    .addColumn("value", "text", (column) => column.notNull())
    .addColumn("organization_id", "text", (column) => column.notNull())
    .addColumn("used", "bigint", (column) => column.notNull())
    .addColumn("notified", "integer", (column) => column.notNull())
    .addColumn("ends_at", "bigint")
    .addPrimaryKeyConstraint("budget_usage_key", ["budget_id", "period", "value"])
    .execute();
  await schema
    .createTable("budget_leases")
    .addColumn("budget_id", "text", (column) => column.notNull())
    .addColumn("period", "text", (column) => column.notNull())
    .addColumn("value", "text", (column) => column.notNull())
    .addColumn("holder", "text", (column) => column.notNull())
    .addColumn("sequence", "bigint", (column) => column.notNull())
    .addColumn("reserved", "bigint", (column) => column.notNull())
    .addColumn("held", "bigint", (column) => column.notNull())
    .addColumn("expires_at", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("budget_leases_key", ["budget_id", "period", "value", "holder"])
    .execute();
}

/** The tables of budgets, and the migration that creates them. Released ones are never edited. */
import type { Kysely } from "kysely";

export interface BudgetTables {
  /** Limits in money. */
  budgets: {
    id: string;
    organization_id: string;
    /** Unique in the organization. */
    name: string;
    /** JSON: the other members of the budget. */
    definition: string;
    created_at: number;
    updated_at: number;
  };
  /** What one value has used of a budget in one period, in billionths of the currency's unit. */
  budget_usage: {
    budget_id: string;
    /** `month 2026-11-01`, `total`. */
    period: string;
    /** `""` where all values have one budget. */
    value: string;
    organization_id: string;
    used: number;
    /** The highest threshold that was reported, in percent. */
    notified: number;
    /** Of the period; null: it does not end. */
    ends_at: number | null;
  };
  /** What a process has of a budget for itself, in billionths of the currency's unit. */
  budget_leases: {
    budget_id: string;
    period: string;
    value: string;
    holder: string;
    /** Of the last request of the process that was applied. */
    sequence: number;
    /** By calls that are running. */
    reserved: number;
    held: number;
    /** UNIX milliseconds. */
    expires_at: number;
  };
}

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

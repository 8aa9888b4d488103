/** Migrations that create the tables of stored responses. Released ones are never edited. */
import type { Kysely } from "kysely";

export async function createResponses({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable("responses")
    .addColumn("id", "text", (column) => column.notNull())
    .addColumn("organization_id", "text", (column) => column.notNull())
    .addColumn("project_name", "text", (column) => column.notNull())
    .addColumn("engine", "text")
    .addColumn("previous_id", "text")
    .addColumn("bytes", "integer", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("expires_at", "bigint", (column) => column.notNull())
    // Last: to read what follows a large value, SQLite reads all of it.
    .addColumn("input", "text", (column) => column.notNull())
    .addColumn("response", "text", (column) => column.notNull())
    // IDs are those of upstreams, which need not be unique.
    .addPrimaryKeyConstraint("responses_key", ["organization_id", "project_name", "id"])
    .execute();
  await schema
    .createIndex("responses_age")
    .on("responses")
    .columns(["organization_id", "created_at", "id", "project_name", "bytes"])
    .execute();
  await schema.createIndex("responses_expiry").on("responses").column("expires_at").execute();
  await schema
    .createTable("response_items")
    .addColumn("organization_id", "text", (column) => column.notNull())
    .addColumn("project_name", "text", (column) => column.notNull())
    .addColumn("id", "text", (column) => column.notNull())
    .addColumn("response_id", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("response_items_key", ["organization_id", "project_name", "id", "response_id"])
    .addForeignKeyConstraint(
      "response_items_of_response",
      ["organization_id", "project_name", "response_id"],
      "responses",
      ["organization_id", "project_name", "id"],
      (constraint) => constraint.onDelete("cascade"),
    )
    .execute();
  await schema
    .createIndex("response_items_response")
    .on("response_items")
    .columns(["organization_id", "project_name", "response_id"])
    .execute();
}

export async function createBackgroundResponses({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable("background_responses")
    .addColumn("organization_id", "text", (column) => column.notNull())
    .addColumn("project_name", "text", (column) => column.notNull())
    .addColumn("id", "text", (column) => column.notNull())
    .addColumn("process", "text", (column) => column.notNull())
    .addColumn("status", "text", (column) => column.notNull())
    .addColumn("is_streamed", "integer", (column) => column.notNull())
    .addColumn("is_cancelled", "integer", (column) => column.notNull())
    .addColumn("upstream_id", "text")
    .addColumn("lease_expires_at", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("background_responses_key", ["organization_id", "project_name", "id"])
    .addForeignKeyConstraint(
      "background_responses_response",
      ["organization_id", "project_name", "id"],
      "responses",
      ["organization_id", "project_name", "id"],
      (constraint) => constraint.onDelete("cascade"),
    )
    .execute();
  await schema
    .createIndex("background_responses_process")
    .on("background_responses")
    .columns(["process", "status"])
    .execute();
  await schema
    .createTable("response_events")
    .addColumn("organization_id", "text", (column) => column.notNull())
    .addColumn("project_name", "text", (column) => column.notNull())
    .addColumn("response_id", "text", (column) => column.notNull())
    .addColumn("first_sequence", "integer", (column) => column.notNull())
    .addColumn("last_sequence", "integer", (column) => column.notNull())
    .addColumn("bytes", "integer", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("events", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("response_events_key", [
      "organization_id",
      "project_name",
      "response_id",
      "first_sequence",
    ])
    .addForeignKeyConstraint(
      "response_events_response",
      ["organization_id", "project_name", "response_id"],
      "background_responses",
      ["organization_id", "project_name", "id"],
      (constraint) => constraint.onDelete("cascade"),
    )
    .execute();
  await schema.createIndex("response_events_age").on("response_events").column("created_at").execute();
}

/** The migration that creates the tables of people, memberships and roles. Released ones are never edited. */
import { sql, type Kysely } from "kysely";

export async function createPeople(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  await schema
    .createTable("people")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("email", "text", (column) => column.notNull().unique())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("operator", "integer", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("disabled_at", "bigint")
    .addColumn("last_used_at", "bigint")
    .execute();
  await schema
    .createTable("roles")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("organization_id", "text", (column) => column.notNull().references("organizations.id"))
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("permissions", "text", (column) => column.notNull())
    .addColumn("allowed_models", "text")
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("updated_at", "bigint", (column) => column.notNull())
    .addUniqueConstraint("roles_name", ["organization_id", "name"])
    .execute();
  await schema
    .createTable("memberships")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("person_id", "text", (column) => column.notNull().references("people.id").onDelete("cascade"))
    .addColumn("organization_id", "text", (column) => column.notNull().references("organizations.id"))
    .addColumn("project_id", "text", (column) => column.references("projects.id"))
    .addColumn("role", "text", (column) => column.notNull())
    .addColumn("source", "text", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .execute();
  // null is not equal to null, so the memberships of whole organizations have an index of their own.
  await sql`create unique index memberships_organization on memberships (person_id, organization_id, source) where project_id is null`.execute(
    database,
  );
  await sql`create unique index memberships_project on memberships (person_id, project_id, source) where project_id is not null`.execute(
    database,
  );
  await schema.createIndex("memberships_of").on("memberships").columns(["organization_id", "person_id"]).execute();
  await schema
    .alterTable("keys")
    .addColumn("person_id", "text", (column) => column.references("people.id").onDelete("set null"))
    .execute();
  await schema.alterTable("keys").addColumn("role", "text").execute();
  await schema.alterTable("keys").addColumn("allowed_models", "text").execute();
  await schema.createIndex("keys_person").on("keys").column("person_id").execute();
}

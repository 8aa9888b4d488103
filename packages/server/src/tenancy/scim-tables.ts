/** The tables of people and groups that identity providers manage by SCIM, and the migration. Released ones are never edited. */
import type { Kysely } from "kysely";

/** A person as the provider of one organization describes them. */
interface ScimUserTable {
  id: string;
  organization_id: string;
  person_id: string;
  /** As the provider sent it. */
  user_name: string;
  /** For comparison: `userName` is not case-sensitive. */
  user_name_key: string;
  external_id: string | null;
  /** JSON: names and addresses. */
  attributes: string;
  /** 0: the person has no access to the organization, whatever the memberships are. */
  active: number;
  created_at: number;
  updated_at: number;
}

interface ScimGroupTable {
  id: string;
  organization_id: string;
  display_name: string;
  display_name_key: string;
  external_id: string | null;
  created_at: number;
  updated_at: number;
}

interface ScimMemberTable {
  group_id: string;
  user_id: string;
}

export interface ScimTables {
  scim_users: ScimUserTable;
  scim_groups: ScimGroupTable;
  scim_members: ScimMemberTable;
}

export async function createScimTables({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable("scim_users")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("organization_id", "text", (column) => column.notNull().references("organizations.id"))
    .addColumn("person_id", "text", (column) => column.notNull().references("people.id").onDelete("cascade"))
    .addColumn("user_name", "text", (column) => column.notNull())
    .addColumn("user_name_key", "text", (column) => column.notNull())
    .addColumn("external_id", "text")
    .addColumn("attributes", "text", (column) => column.notNull())
    .addColumn("active", "integer", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("updated_at", "bigint", (column) => column.notNull())
    .addUniqueConstraint("scim_users_name", ["organization_id", "user_name_key"])
    .addUniqueConstraint("scim_users_person", ["person_id", "organization_id"])
    .execute();
  await schema
    .createTable("scim_groups")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("organization_id", "text", (column) => column.notNull().references("organizations.id"))
    .addColumn("display_name", "text", (column) => column.notNull())
    .addColumn("display_name_key", "text", (column) => column.notNull())
    .addColumn("external_id", "text")
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("updated_at", "bigint", (column) => column.notNull())
    .addUniqueConstraint("scim_groups_name", ["organization_id", "display_name_key"])
    .execute();
  await schema
    .createTable("scim_members")
    .addColumn("group_id", "text", (column) => column.notNull().references("scim_groups.id").onDelete("cascade"))
    .addColumn("user_id", "text", (column) => column.notNull().references("scim_users.id").onDelete("cascade"))
    .addPrimaryKeyConstraint("scim_members_key", ["group_id", "user_id"])
    .execute();
  await schema
    .createIndex("scim_users_external")
    .on("scim_users")
    .columns(["organization_id", "external_id"])
    .execute();
  await schema
    .createIndex("scim_groups_external")
    .on("scim_groups")
    .columns(["organization_id", "external_id"])
    .execute();
  await schema.createIndex("scim_members_user").on("scim_members").column("user_id").execute();
}

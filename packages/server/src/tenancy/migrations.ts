/**
 * The migrations of the control database, one set for both dialects, run at every start. Never edit a released
 * migration; add one whose name sorts after it. Servers of the previous version go on working during an upgrade, so a
 * migration only adds; see later-migrations.ts for one that cannot.
 */
import { PostgresAdapter, sql, type Kysely } from "kysely";
import { Migrator, type Migration } from "kysely/migration";
import { createAccountTables } from "./account-tables.ts";
import { createAuditTables } from "./audit/audit-tables.ts";
import { createBudgets } from "./budget-tables.ts";
import { findLaterMigrations } from "./later-migrations.ts";
import { createPasskeyTables } from "./passkey-tables.ts";
import { createPeople } from "./people-tables.ts";
import { createBackgroundResponses, createResponses } from "./response-tables.ts";
import { createScimTables } from "./scim-tables.ts";
import { createSignInTables } from "./sign-in-tables.ts";
import type { ControlTables } from "./tables.ts";

export const migrations: Readonly<Record<string, Migration>> = {
  "0001_organizations_projects_keys": { up: createDirectoryTables },
  "0002_token_usage": { up: createTokenUsage },
  "0003_write_probe": { up: createWriteProbe },
  "0004_sessions": { up: createSessions },
  "0005_alerts": { up: createAlerts },
  "0006_limit_leases": { up: createLimitLeases },
  "0007_deletions": { up: createDeletions },
  "0008_limits_of_rotated_keys": { up: addLimitsKey },
  "0009_responses": { up: createResponses },
  "0010_background_responses": { up: createBackgroundResponses },
  "0011_budgets": { up: createBudgets },
  "0012_people": { up: createPeople },
  "0013_sign_in": { up: createSignInTables },
  "0014_audit": { up: createAuditTables },
  "0015_content_of_keys": { up: addRecordContent },
  "0016_accounts": { up: createAccountTables },
  "0017_scim": { up: createScimTables },
  "0018_passkeys": { up: createPasskeyTables },
};

export const knownMigrations: readonly string[] = Object.keys(migrations);

async function createDirectoryTables(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  await schema
    .createTable("organizations")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("limits", "text", (column) => column.notNull())
    .addColumn("allowed_models", "text")
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("archived_at", "bigint")
    .execute();
  await schema
    .createTable("projects")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("organization_id", "text", (column) => column.notNull().references("organizations.id"))
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("settings", "text", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("archived_at", "bigint")
    .execute();
  await schema
    .createTable("keys")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("organization_id", "text", (column) => column.notNull().references("organizations.id"))
    .addColumn("project_id", "text", (column) => column.references("projects.id"))
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("secret_hash", "text", (column) => column.notNull().unique())
    .addColumn("redacted_secret", "text", (column) => column.notNull())
    .addColumn("permissions", "text", (column) => column.notNull())
    .addColumn("limits", "text", (column) => column.notNull())
    .addColumn("operator", "integer", (column) => column.notNull())
    .addColumn("configured", "integer", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("expires_at", "bigint")
    .addColumn("revoked_at", "bigint")
    .addColumn("last_used_at", "bigint")
    .execute();
  // Names of archived objects can be reused, hence the partial indexes.
  await sql`create unique index organizations_name on organizations (name) where archived_at is null`.execute(database);
  await sql`create unique index projects_name on projects (organization_id, name) where archived_at is null`.execute(
    database,
  );
  await sql`create index keys_organization on keys (organization_id)`.execute(database);
  await sql`create index keys_project on keys (project_id)`.execute(database);
}

async function createTokenUsage(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable("token_usage")
    .addColumn("month", "text", (column) => column.notNull())
    .addColumn("organization_id", "text", (column) => column.notNull())
    .addColumn("key_id", "text", (column) => column.notNull())
    .addColumn("tokens", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("token_usage_key", ["month", "organization_id", "key_id"])
    .execute();
}

async function createWriteProbe(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable("write_probe")
    .addColumn("id", "integer", (column) => column.primaryKey())
    .addColumn("written_at", "bigint", (column) => column.notNull())
    .execute();
}

async function createSessions({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable("sessions")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("secret_hash", "text", (column) => column.notNull().unique())
    .addColumn("key_id", "text", (column) => column.notNull().references("keys.id"))
    .addColumn("operator_key_id", "text", (column) => column.references("keys.id"))
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("expires_at", "bigint", (column) => column.notNull())
    .addColumn("last_used_at", "bigint", (column) => column.notNull())
    .execute();
  await schema
    .createTable("sign_in_codes")
    .addColumn("code_hash", "text", (column) => column.primaryKey())
    .addColumn("key_id", "text", (column) => column.notNull().references("keys.id"))
    .addColumn("operator_key_id", "text", (column) => column.references("keys.id"))
    .addColumn("expires_at", "bigint", (column) => column.notNull())
    .execute();
  await schema.createIndex("sessions_key").on("sessions").column("key_id").execute();
  await schema.createIndex("sign_in_codes_key").on("sign_in_codes").column("key_id").execute();
}

async function createAlerts({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable("alert_groups")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("organization_id", "text", (column) => column.notNull().references("organizations.id"))
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("definition", "text", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("updated_at", "bigint", (column) => column.notNull())
    .addUniqueConstraint("alert_groups_name", ["organization_id", "name"])
    .execute();
  await schema
    .createTable("alert_states")
    .addColumn("organization_id", "text", (column) => column.notNull())
    .addColumn("rule_group", "text", (column) => column.notNull())
    .addColumn("rule", "text", (column) => column.notNull())
    .addColumn("state", "text", (column) => column.notNull())
    .addColumn("updated_at", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("alert_states_key", ["organization_id", "rule_group", "rule"])
    .execute();
}

/** Receipts outlive what they are about, so nothing refers to other tables. */
async function createDeletions({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable("deletions")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("organization_id", "text", (column) => column.notNull())
    .addColumn("selection", "text", (column) => column.notNull())
    .addColumn("requested_by", "text", (column) => column.notNull())
    .addColumn("status", "text", (column) => column.notNull())
    .addColumn("rows", "text", (column) => column.notNull())
    .addColumn("error", "text")
    .addColumn("attempts", "integer", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("started_at", "bigint")
    .addColumn("hidden_at", "bigint")
    .addColumn("swept_at", "bigint")
    .addColumn("erased_at", "bigint")
    .addColumn("retry_at", "bigint")
    .execute();
  await schema.createIndex("deletions_organization").on("deletions").columns(["organization_id", "id"]).execute();
}

async function addLimitsKey({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable("keys").addColumn("limits_key_id", "text").execute();
}

async function addRecordContent({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable("keys").addColumn("record_content", "integer").execute();
}

/**
 * What servers take of shared limits. In Postgres without a write-ahead log: after a crash of the database, every limit
 * starts anew.
 */
async function createLimitLeases(database: Kysely<unknown>): Promise<void> {
  const isPostgres = database.getExecutor().adapter instanceof PostgresAdapter;
  const table = isPostgres ? sql`unlogged table` : sql`table`;
  await sql`create ${table} limit_leases (id text primary key, account text, expires_at bigint not null)`.execute(
    database,
  );
}

export interface MigrationState {
  readonly applied: readonly string[];
  readonly pending: readonly string[];
  /** Those of a newer version, with which this one can work. */
  readonly later: readonly string[];
}

/**
 * @param database undefined: one that does not exist yet
 * @throws Error if a newer version migrated the database so that this one cannot work with it
 */
export async function readMigrationState(database: Kysely<ControlTables> | undefined): Promise<MigrationState> {
  if (database === undefined) return { applied: [], pending: knownMigrations, later: [] };
  const later = Object.keys(await findLaterMigrations(database, new Set(knownMigrations)));
  const getMigrations = async () => migrations;
  const infos = await new Migrator({ db: database, provider: { getMigrations } }).getMigrations();
  const applied = infos.filter(({ executedAt }) => executedAt !== undefined).map(({ name }) => name);
  return { applied: [...applied, ...later], pending: knownMigrations.filter((name) => !applied.includes(name)), later };
}

/**
 * Runs pending migrations; throws the database's own error. Several servers may do so at once: Kysely holds an advisory
 * lock in Postgres; in SQLite an immediate transaction excludes the others.
 */
export async function migrate(database: Kysely<ControlTables>): Promise<void> {
  for (;;) {
    const later = await findLaterMigrations(database, new Set(Object.keys(migrations)));
    const getMigrations = async () => ({ ...migrations, ...later });
    const { error } = await new Migrator({ db: database, provider: { getMigrations } }).migrateToLatest();
    if (error === undefined) return;
    // A newer server may have migrated the database in the meantime.
    const now = await findLaterMigrations(database, new Set(Object.keys(migrations)));
    if (Object.keys(now).length === Object.keys(later).length) throw error;
  }
}

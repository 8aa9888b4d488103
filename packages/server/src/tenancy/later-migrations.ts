/**
 * Migrations that a newer version has run. A server works with them, so that servers of two versions can share a database while
 * they are upgraded, and an upgrade can be taken back. A migration with which the previous version cannot work has a name that
 * ends with `_incompatible`; older servers refuse to start with it.
 */
import { sql, type Kysely } from "kysely";
import { DEFAULT_MIGRATION_TABLE, type Migration } from "kysely/migration";
import type { ControlTables } from "./tables.ts";

/**
 * The migrations in the database that are not known, as migrations that do nothing.
 * @throws Error if this version cannot work with one of them
 */
export async function findLaterMigrations(
  database: Kysely<ControlTables>,
  known: ReadonlySet<string>,
): Promise<Record<string, Migration>> {
  const tables = await database.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return {};
  const ran = await sql<{ name: string }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)}`.execute(database);
  const later = ran.rows.map(({ name }) => name).filter((name) => !known.has(name));
  const incompatible = later.find((name) => name.endsWith("_incompatible"));
  if (incompatible !== undefined) {
    throw new Error(`a newer version of Sounding changed it so that this one cannot work with it (${incompatible})`);
  }
  return Object.fromEntries(later.map((name) => [name, { up: async () => {} }]));
}

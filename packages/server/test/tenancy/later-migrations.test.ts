/** A control database that a newer version has migrated. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { openControlDatabase, type ControlDatabaseOptions } from "../../src/tenancy/control-database.ts";
import { createOrganization } from "../../src/tenancy/organizations.ts";
import { onEachDatabase } from "./each-database.ts";

onEachDatabase("a control database of a newer version", (databases) => {
  async function migrateTo(location: ControlDatabaseOptions, name: string): Promise<void> {
    const control = await openControlDatabase(location);
    // Kysely gives each migration a later millisecond than the one before, even if that is still to come.
    const later = new Date(Date.now() + 60_000).toISOString();
    await control.write((transaction) =>
      sql`insert into kysely_migration (name, timestamp) values (${name}, ${later})`.execute(transaction),
    );
    await control.close();
  }

  test("is used, and left as it is", async () => {
    const location = await databases.location();
    await migrateTo(location, "9998_add_later_table");
    for (let start = 0; start < 2; start++) {
      const control = await openControlDatabase(location);
      await createOrganization(control, { name: `acme ${start}` });
      await control.close();
    }
  });

  test("is refused if this version cannot work with it", async () => {
    const location = await databases.location();
    await migrateTo(location, "9999_other_keys_incompatible");
    await assert.rejects(
      openControlDatabase(location),
      /a newer version of Sounding changed it so that this one cannot work with it \(9999_other_keys_incompatible\)/,
    );
  });
});

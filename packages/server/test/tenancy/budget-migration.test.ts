/** A database of the last version gets the tables of budgets, and keeps what it has. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Kysely, PostgresDialect } from "kysely";
import { Migrator } from "kysely/migration";
import { Pool } from "pg";
import { openControlDatabase, type ControlDatabaseOptions } from "../../src/tenancy/control-database.ts";
import { migrations } from "../../src/tenancy/migrations.ts";
import { NodeSqliteDialect } from "../../src/tenancy/node-sqlite.ts";
import { newIdentifier, nowSeconds } from "../../src/tenancy/row-values.ts";
import type { ControlTables } from "../../src/tenancy/tables.ts";
import { BudgetFleet } from "../limits/budget-servers.ts";
import { onEachDatabase } from "./each-database.ts";

const lastReleased = "0010_background_responses";

onEachDatabase("a control database of the last version", (databases) => {
  /** @returns the ID of its organization */
  async function createOld({ dataDirectory, url }: ControlDatabaseOptions): Promise<string> {
    const dialect =
      url === undefined
        ? new NodeSqliteDialect(join(dataDirectory, "control.sqlite"))
        : new PostgresDialect({ pool: new Pool({ connectionString: url }) });
    const database = new Kysely<ControlTables>({ dialect });
    const migrator = new Migrator({ db: database, provider: { getMigrations: async () => migrations } });
    assert.equal((await migrator.migrateTo(lastReleased)).error, undefined);
    const id = newIdentifier("org");
    await database
      .insertInto("organizations")
      .values({ id, name: "acme", limits: "{}", allowed_models: null, created_at: nowSeconds(), archived_at: null })
      .execute();
    await database.destroy();
    return id;
  }

  test("counts budgets of its organizations after the migration", async () => {
    const location = await databases.location();
    const fleetOf = await createOld(location);
    const control = await openControlDatabase(location);
    try {
      const fleet = BudgetFleet.of(control, fleetOf);
      const budget = await fleet.budget({ amount: 1 });
      const server = await fleet.server();
      const hold = await server.reserve(7);
      assert.ok(typeof hold !== "string");
      hold.settle(5);
      assert.equal((await server.budgets.useOf(budget)).sum.used, 5);
      await server.budgets.close();
    } finally {
      await control.close();
    }
  });
});

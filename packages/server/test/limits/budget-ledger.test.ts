/** The ledger of budgets applies each request once, in whichever order transactions get their locks. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { LedgerRequest } from "../../src/limits/budgets/budget-ledger.ts";
import { createBudgetLedger } from "../../src/tenancy/budget-ledger.ts";
import { deleteBudget } from "../../src/tenancy/budgets.ts";
import { openControlDatabase, type ControlDatabase } from "../../src/tenancy/control-database.ts";
import { startPostgres } from "../tenancy/postgres-server.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { needs } from "../../../../test/support/needs.ts";
import { BudgetFleet } from "./budget-servers.ts";

describe("the ledger of budgets in SQLite", () => {
  let control: ControlDatabase;
  beforeTests(async (stack) => {
    const dataDirectory = await mkdtemp(join(tmpdir(), "sounding-test-"));
    stack.defer(() => rm(dataDirectory, { recursive: true }));
    control = stack.adopt(await openControlDatabase({ dataDirectory }), (each) => each.close());
  });
  define(() => control);
});

describe("the ledger of budgets in Postgres", { skip: needs("postgresql") }, () => {
  let control: ControlDatabase;
  beforeTests(async (stack) => {
    const postgres = stack.use(await startPostgres());
    const url = await postgres.newDatabase();
    control = stack.adopt(await openControlDatabase({ url, dataDirectory: "" }), (each) => each.close());
  });
  define(() => control);
});

function define(controlOf: () => ControlDatabase): void {
  async function prepare() {
    const control = controlOf();
    const fleet = await BudgetFleet.create(control);
    const { id: budgetId } = await fleet.budget({ amount: 1, subject: "user" });
    const first: LedgerRequest = {
      budgetId,
      organizationId: fleet.organizationId,
      period: "total",
      endMs: Infinity,
      value: "alice",
      sequence: 1,
      isRepeated: false,
      isKnown: false,
      charged: 10,
      reserved: 0,
      keeps: 0,
      demand: 0,
      spare: 0,
      limit: 1_000,
      thresholds: [{ percent: 50, amount: 500 }],
    };
    const ledger = createBudgetLedger({ control, holder: randomUUID(), alone: false });
    const used = async (): Promise<number> => (await ledger.read(budgetId, "total", 1)).sum.used;
    return { control, budgetId, first, ledger, used };
  }

  test("charges a repeated request once, whether it was applied or not", async () => {
    const { first, ledger, used } = await prepare();
    await ledger.exchange([first]);
    await ledger.exchange([{ ...first, isRepeated: true, isKnown: true }]);
    assert.equal(await used(), 10);
    const second = { ...first, sequence: 2, charged: 490, isKnown: true };
    // The one before it was lost on its way.
    const [answer] = await ledger.exchange([{ ...second, isRepeated: true }]);
    assert.deepEqual([answer!.used, answer!.reached], [500, [50]]);
    assert.deepEqual((await ledger.exchange([{ ...second, isRepeated: true }]))[0]!.reached, []);
    assert.equal(await used(), 500);
  });

  test("does not apply a request that arrives after its repetition, or after a later one", async () => {
    const { first, ledger, used } = await prepare();
    await ledger.exchange([{ ...first, isRepeated: true }]);
    await assert.rejects(ledger.exchange([{ ...first, isKnown: true }]));
    await ledger.exchange([{ ...first, sequence: 2, isKnown: true }]);
    await assert.rejects(ledger.exchange([{ ...first, isRepeated: true, isKnown: true }]));
    assert.equal(await used(), 20);
  });

  test("does not count what is known of a budget that was deleted", async () => {
    const { budgetId, control, first, ledger, used } = await prepare();
    const other = { ...first, value: "bob", charged: 5 };
    await ledger.exchange([first, other]);
    await deleteBudget(control, budgetId);
    const requests = [first, other].map((each) => ({ ...each, sequence: 2, isKnown: true }));
    const answers = await ledger.exchange(requests);
    assert.deepEqual(
      answers.map((answer) => answer.used),
      [0, 0],
    );
    assert.equal(await used(), 0);
  });

  test("answers many requests in their order", async () => {
    const { first, ledger } = await prepare();
    const requests = Array.from({ length: 256 }, (_, index) => {
      return { ...first, value: `user ${(index * 7) % 256}`, charged: index, demand: index };
    });
    const answers = await ledger.exchange(requests);
    assert.deepEqual(
      answers.map(({ held, used }) => [held, used]),
      requests.map(({ charged }) => [charged, charged]),
    );
    const again = await ledger.exchange(requests.map((each) => ({ ...each, sequence: 2, isKnown: true, keeps: 1 })));
    assert.deepEqual(
      again.map(({ used }) => used),
      requests.map(({ charged }) => 2 * charged),
    );
  });
}

/** What budgets do at their bounds: at the end of a period, with more values than they count, and without their database. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { BudgetLedger, LedgerRequest } from "../../src/limits/budgets/budget-ledger.ts";
import { createBudgetLedger } from "../../src/tenancy/budget-ledger.ts";
import { openControlDatabase, type ControlDatabase } from "../../src/tenancy/control-database.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { BudgetFleet, billionths, type BudgetServer } from "./budget-servers.ts";

const dayMs = 86_400_000;

describe("a budget", () => {
  let control: ControlDatabase;
  let fleet: BudgetFleet;
  beforeTests(async (stack) => {
    const dataDirectory = await mkdtemp(join(tmpdir(), "sounding-test-"));
    stack.defer(() => rm(dataDirectory, { recursive: true }));
    control = stack.adopt(await openControlDatabase({ dataDirectory }), (each) => each.close());
    fleet = await BudgetFleet.create(control);
  });
  const ledgerOf = (now = (): number => fleet.nowMs): BudgetLedger =>
    createBudgetLedger({ control, holder: randomUUID(), alone: true, now });
  const request = (budgetId: string, members: Partial<LedgerRequest>): LedgerRequest => ({
    budgetId,
    organizationId: fleet.organizationId,
    period: "total",
    endMs: Infinity,
    value: "",
    sequence: 1,
    isRepeated: false,
    isKnown: false,
    charged: 1,
    reserved: 0,
    keeps: 0,
    demand: 0,
    spare: 0,
    limit: 1_000,
    thresholds: [],
    ...members,
  });
  const spend = async (server: BudgetServer, amount: number, endUser?: string): Promise<string | undefined> => {
    const hold = await server.reserve(amount, endUser === undefined ? {} : { endUser });
    if (typeof hold === "string") return hold;
    hold.settle(amount);
    return undefined;
  };

  test("counts a call in the period in which it began", async () => {
    const own = await BudgetFleet.create(control);
    const budget = await own.budget({ amount: 10 / billionths, period: "day" });
    const server = await own.server();
    const hold = await server.reserve(7);
    assert.ok(typeof hold !== "string");
    own.nowMs += dayMs;
    // The whole amount of the next day is there.
    assert.equal(await spend(server, 10), undefined);
    hold.settle(7);
    await server.budgets.close();
    for (const [period, used] of [
      ["day 2026-11-28", 7],
      ["day 2026-11-29", 10],
    ] as const) {
      assert.equal((await ledgerOf().read(budget.id, period, 1)).sum.used, used, period);
    }
  });

  test("refuses calls of more values than it counts, goes on with those it knows, and counts no others", async () => {
    const own = await BudgetFleet.create(control);
    const enforced = await own.budget({ amount: 10 / billionths, subject: "user", period: "total" });
    const ledger = ledgerOf();
    const most = 10_000;
    // The last of them are more than fit.
    const answers = [];
    for (let first = 0; first <= most; first += 300) {
      const requests = Array.from({ length: 300 }, (_, index) =>
        request(enforced.id, { value: `user ${first + index}` }),
      );
      answers.push(...(await ledger.exchange(requests)));
    }
    assert.equal(
      answers.findIndex(({ isFull }) => isFull),
      most,
    );
    assert.ok(answers.slice(most).every(({ isFull }) => isFull));
    const server = await own.server({ alone: true });
    assert.equal(await spend(server, 1, "user 7"), undefined);
    assert.equal(await spend(server, 1, "one more"), "quota_exceeded");
    assert.equal(await spend(server, 0, "one more"), undefined);
    await server.budgets.close();
    assert.equal((await ledger.read(enforced.id, "total", 1)).sum.used, most + 1);
  });

  test("goes on with what its server has while the database is unreachable, and then refuses", async () => {
    const own = await BudgetFleet.create(control);
    await own.budget({ amount: 1_000 / billionths });
    const server = await own.server();
    assert.equal(await spend(server, 10), undefined);
    server.crash();
    let more = 0;
    let refusal: string | undefined;
    while ((refusal = await spend(server, 10)) === undefined) more += 1;
    assert.equal(refusal, "overloaded");
    assert.ok(more > 0 && more < 99, `${more} more calls`);
    assert.equal(await spend(server, 0), undefined);
    await server.budgets.close();
  });

  test("goes on in memory on a server that is alone, up to its amount", async () => {
    const own = await BudgetFleet.create(control);
    await own.budget({ amount: 100 / billionths });
    const [server, started] = [await own.server({ alone: true }), await own.server({ alone: true })];
    assert.equal(await spend(server, 10), undefined);
    for (const each of [server, started]) each.crash();
    for (let call = 0; call < 9; call++) assert.equal(await spend(server, 10), undefined);
    assert.equal(await spend(server, 10), "quota_exceeded");
    // Nothing is known of what was used before the start.
    assert.equal(await spend(started, 10), "overloaded");
    for (const each of [server, started]) await each.budgets.close();
  });

  test("forgets what was used 40 days after the end of a period, and never what has no end", async () => {
    const { id } = await fleet.budget({ amount: 1, subject: "user" });
    const endMs = Date.parse("2026-12-01");
    let nowMs = endMs;
    const ledger = ledgerOf(() => nowMs);
    await ledger.exchange([
      request(id, { period: "month 2026-11-01", endMs, charged: 3 }),
      request(id, { charged: 4 }),
    ]);
    const used = async (period: string): Promise<number> => (await ledger.read(id, period, 1)).sum.used;
    for (const [days, expected] of [
      [39, 3],
      [41, 0],
    ] as const) {
      nowMs = endMs + days * dayMs;
      await ledger.exchange([request(id, { period: `day ${days}`, endMs: nowMs + dayMs })]);
      assert.deepEqual([await used("month 2026-11-01"), await used("total")], [expected, 4]);
    }
  });
});

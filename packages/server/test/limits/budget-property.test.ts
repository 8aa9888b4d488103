/** Whatever calls, aborts and crashes of servers there are: no budget is exceeded by more than what calls cost beyond their reservations. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import type { BudgetHold } from "../../src/limits/budgets/budget-hold.ts";
import { budgetLeaseMs } from "../../src/tenancy/budget-ledger.ts";
import { openControlDatabase, type ControlDatabase } from "../../src/tenancy/control-database.ts";
import { startPostgres } from "../tenancy/postgres-server.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { needs } from "../../../../test/support/needs.ts";
import { isThorough } from "../../../../test/support/property-runs.ts";
import { BudgetFleet, billionths, type BudgetServer } from "./budget-servers.ts";

describe("budgets of several servers in SQLite", () => {
  let control: ControlDatabase;
  beforeTests(async (stack) => {
    const dataDirectory = await mkdtemp(join(tmpdir(), "sounding-test-"));
    stack.defer(() => rm(dataDirectory, { recursive: true }));
    control = stack.adopt(await openControlDatabase({ dataDirectory }), (each) => each.close());
  });
  define(() => control, isThorough ? 60 : 10);
});

describe("budgets of several servers in Postgres", { skip: needs("postgresql") }, () => {
  let control: ControlDatabase;
  beforeTests(async (stack) => {
    const postgres = stack.use(await startPostgres());
    const url = await postgres.newDatabase();
    control = stack.adopt(await openControlDatabase({ url, dataDirectory: "" }), (each) => each.close());
  });
  define(() => control, isThorough ? 20 : 2);
});

const serverCount = 3;
const wholeAmount = 10_000;
const keyAmount = 4_000;

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("call"),
      most: fc.integer({ min: 0, max: 900 }),
      key: fc.nat(2),
      atOnce: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("end"), share: fc.double({ min: 0, max: 1.3, noNaN: true }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("lose") }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("crash") }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("show") }) },
);
const steps = fc.array(
  fc.tuple(fc.nat(serverCount - 1), step).map(([server, each]) => ({ ...each, server })),
  { minLength: 20, maxLength: 90 },
);

interface Running {
  readonly server: number;
  readonly key: string;
  readonly most: number;
  readonly hold: BudgetHold;
}

/** What is true, whoever knows it: by key, and of all. */
class Truth {
  readonly #amounts = new Map<string, number>();

  add(key: string, amount: number): void {
    for (const name of [key, "all"]) this.#amounts.set(name, this.of(name) + amount);
  }

  of(name: string): number {
    return this.#amounts.get(name) ?? 0;
  }
}

function define(controlOf: () => ControlDatabase, runs: number): void {
  test("are never exceeded by more than calls cost beyond what they reserved, and count every cost once", async () => {
    const property = fc.asyncProperty(steps, async (each) => {
      const fleet = await BudgetFleet.create(controlOf());
      const whole = await fleet.budget({ amount: wholeAmount / billionths });
      const perKey = await fleet.budget({ amount: keyAmount / billionths, subject: "key", period: "day" });
      const servers = await Promise.all(Array.from({ length: serverCount }, () => fleet.server({ intervalMs: 5 })));
      const [spent, reserved, excess, lost] = [new Truth(), new Truth(), new Truth(), new Truth()];
      /** Costs that a server knows and may not have written. */
      let known = servers.map(() => [] as { key: string; cost: number }[]);
      let running: Running[] = [];

      const check = (): void => {
        for (const [name, amount] of [
          ["all", wholeAmount],
          ...["0", "1", "2"].map((key) => [key, keyAmount] as const),
        ] as const) {
          const most = amount + excess.of(name);
          const total = spent.of(name) + reserved.of(name);
          assert.ok(total <= most, `${name}: ${total} of ${most}`);
        }
      };
      const call = async (
        server: number,
        { key, most }: { readonly key: number; readonly most: number },
      ): Promise<void> => {
        const hold = await servers[server]!.reserve(most, { keyId: String(key) });
        if (typeof hold === "string") {
          assert.ok(["quota_exceeded", "rate_limited", "overloaded"].includes(hold), hold);
          assert.notEqual(most, 0, "a free call was refused");
          return;
        }
        running.push({ server, key: String(key), most, hold });
        reserved.add(String(key), most);
      };
      const end = ({ server, key, most, hold }: Running, share: number): void => {
        const cost = Math.round(most * share);
        hold.settle(cost);
        reserved.add(key, -most);
        spent.add(key, cost);
        excess.add(key, Math.max(0, cost - most));
        known[server]!.push({ key, cost });
      };
      const crash = async (server: number): Promise<void> => {
        servers[server]!.crash();
        // Its calls go on at their vendors, and nobody hears what they cost.
        for (const { key, cost } of known[server]!) lost.add(key, cost);
        running = running.filter((one) => one.server !== server);
        known = known.map((costs, index) => (index === server ? [] : costs));
        servers[server] = await fleet.server({ intervalMs: 5 });
      };

      for (const { server, ...one } of each) {
        if (one.kind === "call") await Promise.all(Array.from({ length: one.atOnce }, () => call(server, one)));
        else if (one.kind === "lose") servers[server]!.loseAnswer();
        else if (one.kind === "crash") await crash(server);
        else if (one.kind === "show") await servers[server]!.budgets.useOf(whole).catch(() => {});
        else if (running.length > 0) end(running.shift()!, one.share);
        check();
      }
      for (const one of running) end(one, 0.5);
      check();
      await Promise.all(servers.map(({ budgets }) => budgets.close()));

      // Nothing is held by those that crashed, once their leases have ended.
      fleet.nowMs += budgetLeaseMs + 1;
      const last: BudgetServer = await fleet.server();
      const ofAll = await last.budgets.useOf(whole);
      const ofKeys = await last.budgets.useOf(perKey);
      const counted = new Map(ofKeys.values.map(({ used, value }) => [value, used]));
      counted.set("all", ofAll.sum.used);
      for (const [name, used] of counted) {
        assert.ok(
          used <= spent.of(name) && used >= spent.of(name) - lost.of(name),
          `${name}: ${used} of ${spent.of(name)}`,
        );
        assert.ok(used >= 0);
      }
      assert.equal(ofAll.sum.reserved, 0);
      const left = Math.min(wholeAmount - ofAll.sum.used, keyAmount);
      if (left > 0)
        assert.equal(typeof (await last.reserve(left, { keyId: "new" })), "object", "what is left cannot be used");
      assert.equal(await last.reserve(wholeAmount - ofAll.sum.used + 1, { keyId: "new" }), "quota_exceeded");
      await last.budgets.close();
    });
    await fc.assert(property, { numRuns: runs });
  });

  test("are used to the last billionth by servers that take turns", async () => {
    const fleet = await BudgetFleet.create(controlOf());
    const budget = await fleet.budget({ amount: 300 / billionths });
    const servers = await Promise.all(Array.from({ length: serverCount }, () => fleet.server({ intervalMs: 5 })));
    let admitted = 0;
    let isUsedUp = false;
    while (!isUsedUp) {
      for (const server of servers) {
        const hold = await server.reserve(7);
        if (typeof hold !== "string") {
          hold.settle(7);
          admitted += 1;
        } else if (hold === "quota_exceeded") isUsedUp = true;
      }
    }
    await Promise.all(servers.map(({ budgets }) => budgets.close()));
    assert.equal(admitted, Math.floor(300 / 7));
    const last = await fleet.server();
    assert.equal((await last.budgets.useOf(budget)).sum.used, admitted * 7);
    await last.budgets.close();
  });

  test("count values that a database cannot store as they are", async () => {
    const fleet = await BudgetFleet.create(controlOf());
    const budget = await fleet.budget({ amount: 10 / billionths, subject: "user" });
    const server = await fleet.server({ intervalMs: 5 });
    const users = ["half a pair \uD83D", "NUL\0", `${"x".repeat(511)}\u{1F600}`];
    for (const endUser of users) {
      for (const expected of ["object", "string"] as const) {
        const hold = await server.reserve(7, { endUser });
        assert.equal(typeof hold, expected, JSON.stringify(hold));
        if (typeof hold !== "string") hold.settle(7);
      }
    }
    await server.budgets.close();
    const last = await fleet.server();
    const { values } = await last.budgets.useOf(budget);
    await last.budgets.close();
    assert.deepEqual(
      new Map(values.map(({ used, value }) => [value, used])),
      new Map([
        ["NUL\uFFFD", 7],
        ["half a pair \uFFFD", 7],
        [`${"x".repeat(511)}\uFFFD`, 7],
      ]),
    );
  });

  test("report each threshold once in a period, whichever server reaches it", async () => {
    const fleet = await BudgetFleet.create(controlOf());
    await fleet.budget({
      amount: 100 / billionths,
      thresholds: [50, 80, 100],
      enforced: false,
      period: "day",
      subject: "user",
    });
    const servers = await Promise.all([fleet.server({ intervalMs: 5 }), fleet.server({ intervalMs: 5 })]);
    const spend = async (): Promise<void> => {
      for (let call = 0; call < 12; call++) {
        const hold = await servers[call % 2]!.reserve(10, { endUser: "alice" });
        assert.ok(typeof hold !== "string");
        hold.settle(10);
      }
    };
    const reached = (): string[] =>
      servers
        .flatMap((server) => server.reached.map(({ percent, period, value }) => `${value} ${period} ${percent}`))
        .sort();
    await spend();
    while (reached().length < 3) await setImmediate();
    await spend();
    const today = [100, 50, 80].map((percent) => `alice day 2026-11-28 ${percent}`);
    assert.deepEqual(reached(), today);
    fleet.nowMs += 86_400_000;
    await spend();
    await Promise.all(servers.map(({ budgets }) => budgets.close()));
    assert.deepEqual(reached(), [...today, ...[100, 50, 80].map((percent) => `alice day 2026-11-29 ${percent}`)]);
  });
}

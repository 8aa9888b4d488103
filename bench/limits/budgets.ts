/** Budgets for the benchmark of limits: one of the organization, one of each key, one of each user, in the control database. */
import { randomUUID } from "node:crypto";
import type { BudgetedCall } from "../../packages/server/src/limits/budgets/budget.ts";
import { Budgets } from "../../packages/server/src/limits/budgets/budgets.ts";
import type { Limiter } from "../../packages/server/src/limits/limiter.ts";
import { silentLogger } from "../../packages/server/src/logger.ts";
import { mostCost } from "../../packages/server/src/pricing/most-cost.ts";
import { Prices } from "../../packages/server/src/pricing/prices.ts";
import { noTokens } from "../../packages/server/src/pricing/token-usage.ts";
import { createBudgetLedger } from "../../packages/server/src/tenancy/budget-ledger.ts";
import { createBudget, loadBudgets } from "../../packages/server/src/tenancy/budgets.ts";
import type { ControlDatabase } from "../../packages/server/src/tenancy/control-database.ts";
import { nowSeconds } from "../../packages/server/src/tenancy/row-values.ts";
import { scope } from "../../packages/server/test/limits/limited-servers.ts";

const { organizationId } = scope();
const targets = [{ engine: "gpu", model: "m", modelId: "m" }];

export const budgetedCall: BudgetedCall = {
  model: "m",
  endUser: "alice",
  usage: { tokens: { ...noTokens, inputTokens: 80, outputTokens: 20 } },
};

/** @param alone whether the process decides without leases */
export async function openBudgets(control: ControlDatabase, alone: boolean): Promise<Budgets> {
  await control.write((transaction) =>
    transaction
      .insertInto("organizations")
      .values({
        id: organizationId,
        name: organizationId,
        limits: "{}",
        allowed_models: null,
        created_at: nowSeconds(),
        archived_at: null,
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute(),
  );
  if ((await loadBudgets(control)).length === 0) {
    for (const members of [{}, { subject: "key" }, { subject: "user", period: "day" }] as const) {
      const created = { name: randomUUID(), amount: 1_000_000, thresholds: [80], ...members };
      await createBudget(control, organizationId, { created, currency: "USD", operator: true });
    }
  }
  const prices = await Prices.open({
    configured: { m: { input: 2, output: 8, cache_read: 0.2, cache_write: 2.5 } },
    ofOrganizations: {},
    published: false,
    currency: "USD",
    settingsOf: () => undefined,
  });
  return Budgets.open({
    ledger: createBudgetLedger({ control, holder: randomUUID(), alone }),
    load: () => loadBudgets(control),
    alone,
    currency: "USD",
    logger: silentLogger,
    targetsOf: (model) => ({ root: model, targets }),
    mostCost: (payer, each, { usage }) => mostCost(prices, payer, each, () => usage),
    onThreshold: () => {},
  });
}

/** CPU time of an admission with its settlement, in microseconds: one after the other, the best of several rounds. */
export async function measureInLoop(limiter: Limiter, calls: number): Promise<number> {
  const scopes = Array.from({ length: 20 }, (_, index) => scope(`loop-${index}`));
  for (const each of scopes) (await limiter.admit(each, { estimatedTokens: 1, call: () => budgetedCall })).settle();
  let best = Infinity;
  for (let round = 0; round < 5; round++) {
    const before = process.cpuUsage();
    for (let call = 0; call < calls; call++) {
      const admission = limiter.admit(scopes[call % scopes.length]!, {
        estimatedTokens: 100,
        call: () => budgetedCall,
      });
      if (admission instanceof Promise) throw new Error("An admission waited.");
      admission.headers();
      admission.settle({ tokens: 80, cost: { total: 0.000_000_2 } });
    }
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / calls);
  }
  return best;
}

/** Composes budgets: their ledger, prices and models, the admin API, and who learns that a threshold was reached. */
import { randomUUID } from "node:crypto";
import type { Alerts } from "./alerts/alerts.ts";
import type { Config } from "./config/config.ts";
import type { LimitSettings } from "./config/limits.ts";
import type { Route } from "./http/route.ts";
import { Budgets, type ReachedThreshold } from "./limits/budgets/budgets.ts";
import type { Logger } from "./logger.ts";
import { mostCost } from "./pricing/most-cost.ts";
import type { PricedModel } from "./pricing/prices.ts";
import type { Pricing } from "./pricing/pricing.ts";
import { noTokens } from "./pricing/token-usage.ts";
import type { Registry } from "./routing/registry.ts";
import { createBudgetLedger } from "./tenancy/budget-ledger.ts";
import { budgetRoutes } from "./tenancy/budget-routes.ts";
import { loadBudgets } from "./tenancy/budgets.ts";
import type { ControlDatabase } from "./tenancy/control-database.ts";
import { openJobScope } from "./tenancy/job-scope.ts";
import { BudgetSeries, type BudgetSample } from "./telemetry/budgets/budget-series.ts";
import type { Ingest } from "./telemetry/otlp/ingest.ts";

interface BudgetParts {
  readonly control: ControlDatabase;
  readonly pricing: Pick<Pricing, "prices">;
  readonly registry: Pick<Registry, "targetsOf">;
  /** Whether other processes use the control database. */
  readonly isShared: boolean;
  readonly config: Pick<Config, "limits">;
  readonly logger: Logger;
  readonly alerts: Pick<Alerts, "announce">;
}

export interface ServerBudgets {
  readonly budgets: Budgets;
  readonly routes: readonly Route[];
  /** Also writes what is used as metrics. */
  recordTo(ingest: Ingest): void;
  reload(config: BudgetParts["config"]): void;
  close(): Promise<void>;
}

/** @throws AppError if the control database cannot be read */
export async function openServerBudgets(parts: BudgetParts): Promise<ServerBudgets> {
  const { control, isShared, logger, registry } = parts;
  const { prices } = parts.pricing;
  let { limits } = parts.config;
  const alone = !isShared;
  let series: BudgetSeries | undefined;
  const budgets = await Budgets.open({
    ledger: createBudgetLedger({ control, holder: randomUUID(), alone }),
    load: () => loadBudgets(control),
    alone,
    currency: prices.currency,
    logger,
    targetsOf: (model) => registry.targetsOf(model),
    mostCost(payer, targets, { unlimitedAnswers = 0, usage }) {
      if (unlimitedAnswers === 0) return mostCost(prices, payer, targets, () => usage);
      const { tokens = noTokens } = usage;
      return mostCost(prices, payer, targets, (target) => {
        const outputTokens = tokens.outputTokens + unlimitedAnswers * longestAnswer(target, limits);
        return { ...usage, tokens: { ...tokens, outputTokens } };
      });
    },
    onThreshold(reached) {
      report(reached, parts);
      series?.write(reached.budget.organizationId);
    },
  });
  control.onChange(() => void budgets.reload());
  return {
    budgets,
    routes: budgetRoutes({ control, currency: prices.currency, useOf: (budget) => budgets.useOf(budget) }),
    recordTo(ingest) {
      series = new BudgetSeries({
        samples: () => samplesOf(budgets),
        scopeOf: (organizationId) => openJobScope(control, { job: "budgets", organizationId, project: undefined }),
        ingest,
        logger,
      });
    },
    reload(next) {
      ({ limits } = next);
    },
    async close() {
      await budgets.close();
      await series?.close();
    },
  };
}

/** Tokens of one answer that nothing limits. */
function longestAnswer(
  { engine, model, modelId }: PricedModel,
  { budget_output_tokens: usual, max_output_tokens: known }: LimitSettings,
): number {
  for (const name of [`${engine}/${model}`, modelId]) if (Object.hasOwn(known, name)) return known[name]!;
  return usual;
}

const billionths = 1e9;

function samplesOf(budgets: Budgets): BudgetSample[] {
  return budgets.current().map(({ budget, period, used }) => {
    const { amount, currency, name, organizationId } = budget;
    return { organizationId, name, currency, period, amount: amount / billionths, used: used / billionths };
  });
}

function report(reached: ReachedThreshold, { alerts, logger }: BudgetParts): void {
  const { amount, budget, percent, period, used, value } = reached;
  const { currency, id, name, organizationId } = budget;
  const facts = {
    budget: name,
    budget_id: id,
    organization_id: organizationId,
    threshold: percent,
    used,
    amount,
    currency,
  };
  logger.warn(value === "" ? facts : { ...facts, value }, "a budget reached a threshold");
  const ofValue = value === "" ? "" : ` of ${JSON.stringify(value)}`;
  void alerts.announce(organizationId, {
    labels: {
      alertname: "BudgetThreshold",
      budget: name,
      severity: percent >= 100 ? "critical" : "warning",
      threshold: String(percent),
      ...(value === "" ? {} : { value }),
      // Alerts of two periods differ.
      period,
    },
    annotations: {
      summary: `The budget ${JSON.stringify(name)}${ofValue} has reached ${percent} %: ${used} of ${amount} ${currency} are used.`,
    },
    value: used / amount,
  });
}

/** Everything that the server knows of prices, from its configuration. */
import type { TelemetrySettings } from "../config/telemetry.ts";
import type { Logger } from "../logger.ts";
import { createCallCosts, type CallCosts } from "./call-costs.ts";
import { currentRates, type RatesOfModels } from "./current-rates.ts";
import { Prices } from "./prices.ts";
import type { VendorSettings } from "./published/published-prices.ts";
import { createReportedCosts, type ReportedCosts } from "./reported-costs.ts";

type Engines = Readonly<Record<string, VendorSettings>>;

interface PricingOptions {
  readonly settings: Pick<
    TelemetrySettings,
    "token_prices" | "organization_prices" | "published_prices" | "currency" | "exchange_rates" | "cost_in_answers"
  >;
  /** The current ones. */
  engines(): Engines;
  readonly logger: Logger;
}

export interface Pricing {
  readonly prices: Prices;
  readonly costs: CallCosts;
  readonly reportedCosts: ReportedCosts;
  readonly ratesOf: RatesOfModels;
  /** Must be called before calls go to these engines. */
  prepareFor(engines: Engines): Promise<void>;
}

/** @throws Error for a configured model without a price */
export async function openPricing({ engines, logger, settings }: PricingOptions): Promise<Pricing> {
  const prices = await Prices.open({
    configured: settings.token_prices,
    ofOrganizations: settings.organization_prices,
    published: settings.published_prices,
    currency: settings.currency,
    exchangeRates: settings.exchange_rates,
    settingsOf: (engine) => {
      const current = engines();
      return Object.hasOwn(current, engine) ? current[engine] : undefined;
    },
  });
  const prepareFor = async (next: Engines): Promise<void> => {
    if (prices.needsPublished(next)) await prices.load();
  };
  await prepareFor(engines());
  return {
    prices,
    prepareFor,
    costs: createCallCosts(prices, settings.cost_in_answers),
    reportedCosts: createReportedCosts(prices, (error) =>
      logger.warn({ error }, "the published prices could not be loaded: calls that applications report have no cost"),
    ),
    ratesOf: currentRates(prices),
  };
}

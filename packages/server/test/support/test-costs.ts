/** Costs of calls, for tests of what knows prices. */
import { createCallCosts, type CallCosts } from "../../src/pricing/call-costs.ts";
import { completeRates, type ModelPrice, type TokenRates } from "../../src/pricing/model-price.ts";
import type { ReportedCosts } from "../../src/pricing/reported-costs.ts";

const nothing: ModelPrice = {
  tokens: [],
  serviceTiers: {},
  characters: undefined,
  audioMinute: undefined,
  leastSeconds: 0,
  request: undefined,
  webSearches: undefined,
};

export function priceOf(members: Partial<ModelPrice>): ModelPrice {
  return { ...nothing, ...members };
}

export function tokenPrice(rates: Partial<TokenRates> & Pick<TokenRates, "input" | "output">): ModelPrice {
  return priceOf({ tokens: [{ above: 0, ...completeRates(rates) }] });
}

/** For telemetry whose cost does not matter. */
export const noReportedCosts: ReportedCosts = { currency: "USD", load: async () => {}, of: () => undefined };

/** @param prices by model ID */
export function testCosts(prices: Readonly<Record<string, ModelPrice>> = {}, areTold = true): CallCosts {
  return createCallCosts(
    {
      ofCall: (_, { modelId }) =>
        Object.hasOwn(prices, modelId)
          ? { price: prices[modelId]!, source: `configured ${modelId}`, isReported: false }
          : undefined,
    },
    areTold,
  );
}

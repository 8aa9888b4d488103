/** What a call may cost at most, before it is made: for budgets. */
import { costOf, type ModelPrice } from "./model-price.ts";
import type { Payer, PricedModel, Prices } from "./prices.ts";
import type { CallUsage } from "./token-usage.ts";

/**
 * Whole billionths of the currency's unit, of the most expensive model; undefined if one has no price.
 * @param models that may answer
 * @param usageOf what it may use of a model at most
 */
export function mostCost(
  prices: Pick<Prices, "isOwn" | "ofCall">,
  payer: Payer,
  models: readonly PricedModel[],
  usageOf: (model: PricedModel) => CallUsage,
): number | undefined {
  const nowMs = Date.now();
  let most: number | undefined;
  for (const model of models) {
    const found = prices.ofCall(payer, model, nowMs);
    const cost = found === undefined ? undefined : costOf(withHighestRates(found.price), usageOf(model));
    if (cost === undefined && !prices.isOwn(model.engine)) return undefined;
    most = Math.max(most ?? 0, cost === undefined ? 0 : cost.input + cost.output);
  }
  return most;
}

const highest = new WeakMap<ModelPrice, ModelPrice>();

/** As if the whole prompt was written to a cache, and the whole answer was of the kind that costs most, in the service tier where that costs most. */
function withHighestRates(price: ModelPrice): ModelPrice {
  let found = highest.get(price);
  if (found === undefined) {
    // A vendor may choose the service tier.
    const all = [price.tokens, ...Object.values(price.serviceTiers)];
    const tokens = price.tokens.map((tier, index) => {
      const same = all.map((tiers) => tiers[index] ?? tier);
      return {
        ...tier,
        input: Math.max(
          ...same.flatMap(({ cacheWrite, cacheWriteHour, input }) => [input, cacheWrite, cacheWriteHour]),
        ),
        output: Math.max(
          ...same.flatMap(({ audioOutput, citation, imageOutput, output, reasoning }) => [
            output,
            reasoning,
            citation,
            imageOutput,
            audioOutput,
          ]),
        ),
      };
    });
    found = { ...price, tokens };
    highest.set(price, found);
  }
  return found;
}

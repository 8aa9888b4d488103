/** Which spans of a trace are model calls, of which model, and what their tokens cost. */
import type { TracesAnswer } from "../../api/observability.ts";
import { costOfTokens, type ModelTokenPrices } from "../../pricing/token-prices.ts";
import { sql } from "../../store/statement.ts";
import { spanLabels } from "../../store/span-labels.ts";
import { isInference } from "../../store/row-expressions.ts";

type Models = TracesAnswer["traces"][number]["summary"]["models"];

/** Null if no model has a price. */
export type CostOfModels = (models: Models) => number | null;

/** The model that a span called; empty if it is no model call. The same calls as in metrics. */
export const calledModel = sql`if(${isInference} AND repeated = 0, toString(${spanLabels.model_key}), '')`;

/**
 * What spans of the same call share. A call that this server served counts once in its trace: an application's span with
 * one of its keys does not (store/counted-calls.ts).
 */
export const callKeys = sql`arrayFilter(key -> key != 0, [response_key, request_key])`;

export function modelCosts(prices: ModelTokenPrices): CostOfModels {
  return (models) => {
    const costs = models.flatMap((calls) => {
      const price = Object.hasOwn(prices, calls.model) ? prices[calls.model] : undefined;
      return price === undefined ? [] : [costOfTokens(calls, price)];
    });
    return costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0);
  };
}

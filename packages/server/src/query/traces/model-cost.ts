/** Which spans of a trace are model calls, of which model, and what they cost. */
import type { TracesAnswer } from "../../api/observability.ts";
import type { RatesOfModels } from "../../pricing/current-rates.ts";
import { costOf } from "../../pricing/model-price.ts";
import { noTokens } from "../../pricing/token-usage.ts";
import { sql } from "../../store/statement.ts";
import { spanLabels } from "../../store/span-labels.ts";
import { isInference } from "../../store/row-expressions.ts";

type Models = TracesAnswer["traces"][number]["summary"]["models"];

/** The calls of one model, for the answer. */
export type ModelCounts = Models[number];

type TokenCounts = Pick<ModelCounts, "inputTokens" | "outputTokens" | "cacheReadTokens" | "cacheWriteTokens">;

export interface ModelCalls {
  readonly counts: ModelCounts;
  /** How many of the calls have a recorded cost. */
  readonly pricedCalls: number;
  /** The sum of the recorded costs, in billionths of the currency's unit. */
  readonly costBillionths: number;
  /** Tokens of the other calls. */
  readonly unpriced: TokenCounts;
}

/** Null if no model has a price. */
export type CostOfModels = (models: readonly ModelCalls[]) => number | null;

/** The model that a span called; empty if it is no model call. The same calls as in metrics. */
export const calledModel = sql`if(${isInference} AND repeated = 0, toString(${spanLabels.model_key}), '')`;

/**
 * What spans of the same call share. A call that this server served counts once in its trace: an application's span with
 * one of its keys does not (store/counted-calls.ts).
 */
export const callKeys = sql`arrayFilter(key -> key != 0, [response_key, request_key])`;

const billionths = 1e9;

/** Recorded costs, and other tokens at the price of their model today, as in the metric `token_cost`. */
export function modelCosts(ratesOf: RatesOfModels): CostOfModels {
  return (models) => {
    const rates = ratesOf();
    const costs = models.flatMap(({ costBillionths, counts, pricedCalls, unpriced }) => {
      const own = Object.hasOwn(rates, counts.model) ? rates[counts.model] : undefined;
      const tokens = { ...noTokens, ...unpriced };
      const computed =
        own === undefined || pricedCalls === counts.calls
          ? undefined
          : costOf({ ...onlyTokens, tokens: [{ above: 0, ...own }] }, { tokens });
      const isKnown = pricedCalls > 0 || computed !== undefined;
      return isKnown ? [costBillionths + (computed?.input ?? 0) + (computed?.output ?? 0)] : [];
    });
    return costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0) / billionths;
  };
}

const onlyTokens = {
  serviceTiers: {},
  characters: undefined,
  audioMinute: undefined,
  leastSeconds: 0,
  request: undefined,
  webSearches: undefined,
};

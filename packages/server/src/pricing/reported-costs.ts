/** What calls cost that applications report in their telemetry. */
import { costOf } from "./model-price.ts";
import type { Payer, Prices, ReportedModel } from "./prices.ts";
import { noTokens, type TokenUsage } from "./token-usage.ts";

/** The counts that spans of applications have. */
export type ReportedTokens = Pick<TokenUsage, "inputTokens" | "outputTokens" | "cacheReadTokens" | "cacheWriteTokens">;

export interface ReportedCosts {
  readonly currency: string;
  /** Called before the first of a request's calls is priced; never fails. */
  load(): Promise<void>;
  /** Whole billionths of the currency's unit; undefined if the model has no price. @param unixMs when the call was made */
  of(payer: Payer, model: ReportedModel, tokens: ReportedTokens, unixMs: number): number | undefined;
}

/** @param onFailure called if the published prices cannot be loaded; calls then have no cost */
export function createReportedCosts(
  prices: Pick<Prices, "currency" | "load" | "ofReported">,
  onFailure: (error: unknown) => void,
): ReportedCosts {
  return {
    currency: prices.currency,
    load: () => prices.load().catch(onFailure),
    of(payer, model, tokens, unixMs) {
      if (tokens.inputTokens + tokens.outputTokens + tokens.cacheReadTokens + tokens.cacheWriteTokens === 0) {
        return undefined;
      }
      const found = prices.ofReported(payer, model, unixMs);
      const cost = found && costOf(found.price, { tokens: { ...noTokens, ...tokens } });
      return cost && cost.input + cost.output;
    },
  };
}

const billionths = 1e9;
/** A call cannot cost more: sums must not overflow because of what a sender claims. */
const highestCost = 1e6;

/** A cost that a span names, in whole billionths; undefined if it is none. */
export function namedCost(cost: number): number | undefined {
  return cost >= 0 && cost <= highestCost ? Math.round(cost * billionths) : undefined;
}

/** What calls cost: computed when a call ends, told in its answer and recorded in its span and its line of the log. */
import { isObject } from "../json-object.ts";
import { costOfInput, costOfOutput, type ModelTokenPrices, type TokenUsage } from "./token-prices.ts";

/** In the currency of the prices, exact to a billionth of its unit: `total` is the sum of the parts. */
export interface CallCost {
  readonly total: number;
  readonly input: number;
  readonly output: number;
}

/** Members of `usage` in OpenRouter's shape. https://openrouter.ai/docs/use-cases/usage-accounting */
export interface CostMembers {
  readonly cost: number;
  readonly cost_details: {
    readonly upstream_inference_prompt_cost: number;
    readonly upstream_inference_completions_cost: number;
  };
}

export interface CallCosts {
  /**
   * @param models the names of the model that answered, the best known first
   * @returns undefined if none of them has a price
   */
  of(models: readonly (string | undefined)[], usage: TokenUsage): CallCost | undefined;
  /** Whether answers tell it. */
  readonly areTold: boolean;
}

const billionths = 1e9;

export function createCallCosts(prices: ModelTokenPrices, areTold: boolean): CallCosts {
  return {
    areTold,
    of(models, usage) {
      const priced = models.find((model) => model !== undefined && Object.hasOwn(prices, model));
      const price = priced === undefined ? undefined : prices[priced];
      if (price === undefined) return undefined;
      const input = Math.round(costOfInput(usage, price) * billionths);
      const output = Math.round(costOfOutput(usage, price) * billionths);
      return { total: (input + output) / billionths, input: input / billionths, output: output / billionths };
    },
  };
}

/** An engine's own `cost` gives way to that of the configured prices. */
export function withCost<Usage extends object>(
  usage: Usage,
  cost: CallCost | undefined,
): Usage | (Usage & CostMembers) {
  if (cost === undefined) return usage;
  const { total, input, output } = cost;
  return {
    ...usage,
    cost: total,
    cost_details: { upstream_inference_prompt_cost: input, upstream_inference_completions_cost: output },
  };
}

export function pricedAnswer<Answer extends { readonly usage?: unknown }>(
  answer: Answer,
  cost: CallCost | undefined,
): Answer {
  return cost === undefined || !isObject(answer.usage) ? answer : { ...answer, usage: withCost(answer.usage, cost) };
}

/** The header is no part of any API's usage, so clients of every kind can read it. */
export function costHeaders(cost: CallCost | undefined): { readonly "x-cost"?: string } {
  // Numbers below a millionth would be printed with an exponent.
  return cost === undefined ? {} : { "x-cost": cost.total.toFixed(9).replace(/\.?0+$/, "") };
}

/** What calls cost: computed when a call ends, told in its answer and recorded in its span and its line of the log. */
import { isObject } from "../json-object.ts";
import { converted } from "./exchange-rates.ts";
import { costOf, serviceTierOf, type Billionths } from "./model-price.ts";
import type { Payer, PricedModel, Prices } from "./prices.ts";
import { namedCost } from "./reported-costs.ts";
import type { CallUsage } from "./token-usage.ts";

/** In the currency of the prices, exact to a billionth of its unit: `total` is the sum of the parts. */
export interface CallCost {
  readonly total: number;
  readonly input: number;
  readonly output: number;
  /** Which price was used: `organization gpt-4o`, `configured gpt-4o`, `configured gpt-4o flex`, or `published openai/gpt-4o 2026-09-23`. */
  readonly source: string;
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
  /** @returns undefined if the model has no price, or none for what was used */
  of(payer: Payer, call: PricedModel, usage: CallUsage): CallCost | undefined;
  /** Whether answers tell it. */
  readonly areTold: boolean;
}

const billionths = 1e9;

export function createCallCosts(prices: Pick<Prices, "ofCall">, areTold: boolean): CallCosts {
  return {
    areTold,
    of(payer, call, usage) {
      const found = prices.ofCall(payer, call, Date.now());
      if (found === undefined) return undefined;
      const parts = costOf(found.price, usage);
      const reported =
        found.isReported && usage.reportedCost !== undefined && namedCost(usage.reportedCost) !== undefined
          ? namedCost(converted(usage.reportedCost, found.conversion))
          : undefined;
      const tier = serviceTierOf(found.price, usage) === undefined ? "" : ` ${usage.serviceTier}`;
      if (reported === undefined) return parts && toCost(parts, found.source + tier);
      const output = Math.min(parts?.output ?? 0, reported);
      return toCost({ input: reported - output, output }, found.source.replace("published", "reported"));
    },
  };
}

function toCost({ input, output }: Billionths, source: string): CallCost {
  return { total: (input + output) / billionths, input: input / billionths, output: output / billionths, source };
}

/** What all attempts of a call cost together. @param costs of the answer last */
export function sumOfCosts(costs: readonly CallCost[]): CallCost | undefined {
  const last = costs.at(-1);
  if (last === undefined || costs.length === 1) return last;
  const sum = (part: "input" | "output"): number =>
    costs.reduce((total, cost) => total + Math.round(cost[part] * billionths), 0);
  return toCost({ input: sum("input"), output: sum("output") }, last.source);
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

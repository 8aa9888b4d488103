/**
 * Prices of a model's tokens. The configuration need not say what cached tokens cost: then they have the share of the input's
 * price that the model's vendor publishes, else the full price.
 */
import type { TokenPrices } from "../config/metric-presets.ts";

/** Of one million tokens, in the currency of the configuration. */
export interface TokenPrice {
  readonly input: number;
  readonly output: number;
  /** Of input tokens that were read from a cache. */
  readonly cacheRead: number;
  /** Of input tokens that were written to a cache. */
  readonly cacheWrite: number;
}

export type ModelTokenPrices = Readonly<Record<string, TokenPrice>>;

/** Loads the vendors' prices only if they are needed: they are a megabyte. */
export async function resolveTokenPrices(configured: TokenPrices): Promise<ModelTokenPrices> {
  const entries = Object.entries(configured);
  const isComplete = entries.every(
    ([, { cache_read: read, cache_write: write }]) => read !== undefined && write !== undefined,
  );
  const shareOf = isComplete ? undefined : (await import("./published-prices.ts")).publishedCacheShares;
  return Object.fromEntries(
    entries.map(([model, price]) => {
      const shares = shareOf?.(model);
      return [
        model,
        {
          input: price.input,
          output: price.output,
          cacheRead: price.cache_read ?? price.input * (shares?.read ?? 1),
          cacheWrite: price.cache_write ?? price.input * (shares?.write ?? 1),
        },
      ];
    }),
  );
}

/** What a model was given and generated; cached tokens are part of the input. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

const pricedTokens = 1e6;

export function costOfTokens(usage: TokenUsage, price: TokenPrice): number {
  return costOfInput(usage, price) + costOfOutput(usage, price);
}

export function costOfInput(usage: TokenUsage, price: TokenPrice): number {
  const { cacheReadTokens, cacheWriteTokens, inputTokens } = usage;
  // Some instrumentations leave cached tokens out of the input.
  const uncached = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  const cost = uncached * price.input + cacheReadTokens * price.cacheRead + cacheWriteTokens * price.cacheWrite;
  return cost / pricedTokens;
}

export function costOfOutput({ outputTokens }: TokenUsage, price: TokenPrice): number {
  return (outputTokens * price.output) / pricedTokens;
}

/**
 * Prices of a model's tokens. What the configuration does not say is what the model's vendor publishes; cached tokens have the
 * share of the input's price that the vendor publishes, else the full price.
 */
import type { TokenPrices } from "../config/metric-presets.ts";
import type { TokenPrice } from "./token-price.ts";

export type ModelTokenPrices = Readonly<Record<string, TokenPrice>>;

/**
 * Loads the vendors' prices only if they are needed: they are a megabyte.
 * @throws Error for a model without configured prices that no vendor publishes
 */
export async function resolveTokenPrices(configured: TokenPrices): Promise<ModelTokenPrices> {
  const entries = Object.entries(configured);
  const published = entries.every(([, price]) => isComplete(price))
    ? undefined
    : (await import("./published-prices.ts")).publishedPrices;
  return Object.fromEntries(
    entries.map(([model, price]) => [model, resolvePrice(model, price, published?.(price.published ?? model))]),
  );
}

type ConfiguredPrice = TokenPrices[string];

function isComplete({ input, output, cache_read: read, cache_write: write }: ConfiguredPrice): boolean {
  return input !== undefined && output !== undefined && read !== undefined && write !== undefined;
}

function resolvePrice(model: string, configured: ConfiguredPrice, published: TokenPrice | undefined): TokenPrice {
  const { input = published?.input, output = published?.output, published: name } = configured;
  if (input === undefined || output === undefined || (name !== undefined && published === undefined)) {
    const problem = `no vendor publishes prices of ${JSON.stringify(name ?? model)}`;
    const remedy = "set input and output, or set published to the name that its vendor uses.";
    throw new Error(`telemetry.token_prices.${model}: ${problem}; ${remedy}`);
  }
  /** The share of the input's price that the vendor publishes for cached tokens. */
  const cached = (price: number | undefined): number =>
    price === undefined || published === undefined || published.input === 0 ? input : price * (input / published.input);
  return {
    input,
    output,
    cacheRead: configured.cache_read ?? cached(published?.cacheRead),
    cacheWrite: configured.cache_write ?? cached(published?.cacheWrite),
  };
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
  return (inputAmount(usage, price) + outputAmount(usage, price)) / pricedTokens;
}

export function costOfInput(usage: TokenUsage, price: TokenPrice): number {
  return inputAmount(usage, price) / pricedTokens;
}

export function costOfOutput(usage: TokenUsage, price: TokenPrice): number {
  return outputAmount(usage, price) / pricedTokens;
}

function inputAmount({ inputTokens, cacheReadTokens, cacheWriteTokens }: TokenUsage, price: TokenPrice): number {
  // Some instrumentations leave cached tokens out of the input.
  const uncached = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  return uncached * price.input + cacheReadTokens * price.cacheRead + cacheWriteTokens * price.cacheWrite;
}

function outputAmount({ outputTokens }: TokenUsage, price: TokenPrice): number {
  return outputTokens * price.output;
}

/** Reads what vendors publish. https://github.com/pydantic/genai-prices */
import { calcPrice, type ModelPrice } from "@pydantic/genai-prices";

export interface CacheShares {
  /** Price of a cached token divided by that of another input token. */
  readonly read: number;
  readonly write: number;
}

/** The shares of a model by its name, which may begin with a vendor's; undefined if no vendor has it. */
export function publishedCacheShares(model: string): CacheShares | undefined {
  for (const name of new Set([model, model.slice(model.lastIndexOf("/") + 1)])) {
    const prices = calcPrice({ input_tokens: 1 }, name)?.model_price;
    const input = prices === undefined ? undefined : amount(prices, "input_mtok");
    if (prices === undefined || input === undefined || input === 0) continue;
    return {
      read: (amount(prices, "cache_read_mtok") ?? input) / input,
      write: (amount(prices, "cache_write_mtok") ?? input) / input,
    };
  }
  return undefined;
}

/** The price of the first tier. */
function amount(prices: ModelPrice, name: string): number | undefined {
  const price = prices[name];
  return typeof price === "object" ? price.base : price;
}

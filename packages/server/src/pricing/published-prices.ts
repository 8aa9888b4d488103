/** Reads what vendors publish, in US dollars. https://github.com/pydantic/genai-prices */
import { calcPrice, type ModelPrice } from "@pydantic/genai-prices";
import type { TokenPrice } from "./token-price.ts";

/**
 * Today's prices of a model by its name, which may begin with a vendor's; undefined if no vendor has it. Where a vendor charges
 * more for long prompts, they are those of short ones.
 */
export function publishedPrices(model: string): TokenPrice | undefined {
  const slash = model.lastIndexOf("/");
  const bare = model.slice(slash + 1);
  const vendor = slash === -1 ? "openai" : model.slice(0, slash);
  // The table finds a vendor by the beginning of a name, but not OpenAI's models of embeddings.
  const prices = pricesOf(model) ?? pricesOf(bare) ?? pricesOf(bare, vendor);
  const input = prices === undefined ? undefined : amount(prices, "input_mtok");
  if (prices === undefined || input === undefined) return undefined;
  return {
    input,
    // Models of embeddings have no output.
    output: amount(prices, "output_mtok") ?? 0,
    cacheRead: amount(prices, "cache_read_mtok") ?? input,
    cacheWrite: amount(prices, "cache_write_mtok") ?? input,
  };
}

function pricesOf(model: string, vendor?: string): ModelPrice | undefined {
  return calcPrice({ input_tokens: 1 }, model, vendor === undefined ? {} : { providerId: vendor })?.model_price;
}

/** The price of the first tier. */
function amount(prices: ModelPrice, name: string): number | undefined {
  const price = prices[name];
  return typeof price === "object" ? price.base : price;
}

/** What the configuration says of models today, for calls whose cost was not recorded when they were made. */
import { priceAt, type TokenRates } from "./model-price.ts";
import type { Prices } from "./prices.ts";

/** By model ID. */
export type RatesOfModels = () => Readonly<Record<string, TokenRates>>;

/** A list of traces asks for them for each one. */
const refreshMs = 10_000;

/** Those of short prompts. */
export function currentRates(prices: Pick<Prices, "configured">): RatesOfModels {
  let known: { readonly untilMs: number; readonly rates: Readonly<Record<string, TokenRates>> } | undefined;
  return () => {
    const now = Date.now();
    if (known !== undefined && now < known.untilMs) return known.rates;
    const rates = [...prices.configured].flatMap(([model, dated]): [string, TokenRates][] => {
      const [first] = priceAt(dated, now).tokens;
      return first === undefined ? [] : [[model, first]];
    });
    known = { untilMs: now + refreshMs, rates: Object.fromEntries(rates) };
    return known.rates;
  };
}

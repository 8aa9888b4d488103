/** Reads a model's published price. https://github.com/pydantic/genai-prices/blob/main/prices/units.yml */
import type { ModelPrice as PublishedPrice } from "@pydantic/genai-prices";
import { converted, type Conversion } from "../exchange-rates.ts";
import { completeRates, type DatedPrice, type ModelPrice, type TokenTier } from "../model-price.ts";
import type { PublishedModel } from "./table.ts";

/** @param conversion undefined: costs are in US dollars, like published prices */
export function datedPrices(
  { id, prices }: PublishedModel,
  vendor: string,
  conversion: Conversion | undefined,
): readonly DatedPrice[] {
  const leastSeconds = vendor === "groq" && id.startsWith("whisper-") ? leastSecondsOfGroq : 0;
  const toPrice = (published: PublishedPrice): Pick<DatedPrice, "price" | "conversion"> => {
    return { price: readPrice(published, { leastSeconds, conversion }), conversion };
  };
  if (!Array.isArray(prices)) return [{ fromMs: 0, hours: undefined, ...toPrice(prices) }];
  return prices.map(({ constraint, prices: dated }) => ({
    fromMs: constraint?.type === "start_date" ? Date.parse(`${constraint.start_date}T00:00:00Z`) : 0,
    hours:
      constraint?.type === "time_of_date"
        ? ([secondOf(constraint.start_time), secondOf(constraint.end_time)] as const)
        : undefined,
    ...toPrice(dated),
  }));
}

/** https://groq.com/pricing charges recordings of at least this length. */
const leastSecondsOfGroq = 10;

/** Of a time such as `16:30:00Z`. */
function secondOf(time: string): number {
  return Date.parse(`1970-01-01T${time}`) / 1000;
}

interface PriceParts {
  readonly leastSeconds: number;
  readonly conversion: Conversion | undefined;
}

function readPrice(prices: PublishedPrice, { conversion, leastSeconds }: PriceParts): ModelPrice {
  const per = (name: string, divisor: number): number | undefined => {
    const price = amountAt(prices[name], 0);
    return price === undefined ? undefined : converted(price, conversion) / divisor;
  };
  return {
    tokens: readTiers(prices, conversion),
    serviceTiers: {},
    characters: per("input_mchars", 1),
    audioMinute: per("input_audio_hours", 60) ?? per("audio_hours", 60),
    leastSeconds,
    request: per("requests_kcount", 1_000),
    webSearches: per("web_searches_kcount", 1),
  };
}

function readTiers(prices: PublishedPrice, conversion: Conversion | undefined): TokenTier[] {
  if (prices["input_mtok"] === undefined) return [];
  const starts = Object.values(prices).flatMap((price) =>
    typeof price === "object" ? price.tiers.map(({ start }) => start) : [],
  );
  return [...new Set([0, ...starts])]
    .sort((left, right) => left - right)
    .map((above) => {
      const rate = (name: string): number | undefined => {
        const price = amountAt(prices[name], above);
        return price === undefined ? undefined : converted(price, conversion);
      };
      const rates = {
        cacheRead: rate("cache_read_mtok"),
        cacheWrite: rate("cache_write_mtok"),
        cacheWriteHour: rate("cache_write_1h_mtok"),
        audioInput: rate("input_audio_mtok"),
        audioCacheRead: rate("cache_audio_read_mtok"),
        audioOutput: rate("output_audio_mtok"),
        imageOutput: rate("output_image_mtok"),
        reasoning: rate("output_reasoning_mtok"),
        citation: rate("output_citation_mtok"),
      };
      const known = Object.fromEntries(Object.entries(rates).filter(([, value]) => value !== undefined));
      // Models of embeddings have no output.
      return { above, ...completeRates({ input: rate("input_mtok")!, output: rate("output_mtok") ?? 0, ...known }) };
    });
}

/** The price of the tier that begins above a number of input tokens. */
function amountAt(price: PublishedPrice[string], above: number): number | undefined {
  if (typeof price !== "object") return price;
  let amount = price.base;
  for (const tier of [...price.tiers].sort((left, right) => left.start - right.start))
    if (above >= tier.start) amount = tier.price;
  return amount;
}

/**
 * Reads the prices of the configuration. What it does not say is what the model's vendor publishes; a rate that depends on
 * another, such as that of cached tokens, keeps its share of it.
 */
import type { ConfiguredPrice, PriceMembers, TokenPrices } from "../config/token-prices.ts";
import { converted, readExchangeRates, type Conversion, type ExchangeRates } from "./exchange-rates.ts";
import { completeRates, type DatedPrice, type ModelPrice, type TokenRates, type TokenTier } from "./model-price.ts";
import type { PublishedPrice, PublishedPrices } from "./published/published-prices.ts";

export type PricesOfModels = ReadonlyMap<string, readonly DatedPrice[]>;

/** Whether a price of the configuration cannot be read without the published ones. */
export function needPublished(prices: TokenPrices): boolean {
  return Object.values(prices).some((price) => !isComplete(price));
}

interface Sources {
  /** Undefined: there are none. */
  readonly published: Pick<PublishedPrices, "named"> | undefined;
  readonly exchangeRates?: ExchangeRates;
  /** For errors. */
  readonly setting?: string;
}

const dollars = readExchangeRates("USD", {});

/** @throws Error for a model without a price, or with one in a currency that cannot be converted */
export function readConfiguredPrices(
  prices: TokenPrices,
  { exchangeRates = dollars, published, setting = "telemetry.token_prices" }: Sources,
): PricesOfModels {
  return new Map(
    Object.entries(prices).map(([model, { currency, ...price }]) => {
      const where = `${setting}.${model}`;
      const conversion =
        currency === undefined ? undefined : exchangeRates.conversionFrom(currency, `${where}.currency`);
      return [model, readPrice({ model, where, conversion }, inCostsCurrency(price, conversion), published)];
    }),
  );
}

/** All amounts, which are all numbers but the lengths of prompts. */
function inCostsCurrency<Members>(members: Members, conversion: Conversion | undefined): Members {
  if (conversion === undefined) return members;
  const convert = (value: unknown, name: string): unknown => {
    if (typeof value === "number") return name === "above" ? value : converted(value, conversion);
    if (Array.isArray(value)) return value.map((each) => convert(each, name));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, convert(each, key)]));
  };
  return convert(members, "") as Members;
}

/** Rates that the vendor's shares would complete may be absent only where the vendor publishes none. */
function isComplete({ cache_read: read, cache_write: write, input, output, published }: ConfiguredPrice): boolean {
  const hasTokens = input !== undefined && output !== undefined && read !== undefined && write !== undefined;
  return published === undefined && hasTokens;
}

interface PlaceOfPrice {
  readonly model: string;
  /** The setting. */
  readonly where: string;
  readonly conversion: Conversion | undefined;
}

function readPrice(
  { conversion, model, where }: PlaceOfPrice,
  configured: Omit<ConfiguredPrice, "currency">,
  published: Pick<PublishedPrices, "named"> | undefined,
): readonly DatedPrice[] {
  const { changes = [], published: name, ...first } = configured;
  const found = published?.named(name ?? model);
  const hasOther = [first.characters, first.audio_minute, first.request].some((each) => each !== undefined);
  const lacksTokens = first.input === undefined || first.output === undefined;
  if (found === undefined && ((lacksTokens && !hasOther) || name !== undefined)) {
    if (published === undefined) {
      throw new Error(
        `${where}: published prices are in US dollars, and telemetry.currency is another one; set input and output, or telemetry.exchange_rates.USD.`,
      );
    }
    const problem = `no vendor publishes prices of ${JSON.stringify(name ?? model)}`;
    throw new Error(`${where}: ${problem}; set input and output, or set published to the name that its vendor uses.`);
  }
  let members: PriceMembers = first;
  const dated = [...datedPrices(members, { fromMs: 0, conversion }, found)];
  let before = "";
  for (const { from, ...change } of changes) {
    const fromMs = Date.parse(`${from}T00:00:00Z`);
    if (!isDay(from)) throw new Error(`${where}.changes: ${from} is not a day.`);
    if (from <= before) {
      throw new Error(`${where}.changes: ${from} is not after ${before}; order them by their day.`);
    }
    before = from;
    members = Object.assign({}, members, change);
    dated.push(...datedPrices(members, { fromMs, conversion }, found));
  }
  return dated;
}

/** Dates such as 30 February would be those of the next month. */
function isDay(day: string): boolean {
  const time = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}

/** A setting's prices from a time on, for each of the vendor's own. */
function datedPrices(
  members: PriceMembers,
  { conversion, fromMs }: Pick<DatedPrice, "conversion" | "fromMs">,
  published: PublishedPrice | undefined,
): DatedPrice[] {
  if (published === undefined) return [{ fromMs, hours: undefined, price: toPrice(members, undefined), conversion }];
  const isOwn = members.input !== undefined && members.output !== undefined;
  return published.prices.map((each) => ({
    fromMs: Math.max(fromMs, each.fromMs),
    hours: each.hours,
    price: toPrice(members, each.price),
    conversion: conversion ?? (isOwn ? undefined : each.conversion),
  }));
}

function toPrice(members: PriceMembers, published: ModelPrice | undefined): ModelPrice {
  const tokens = toTiers(members, published?.tokens ?? []);
  return {
    tokens,
    serviceTiers: toServiceTiers(members, tokens),
    characters: members.characters ?? published?.characters,
    audioMinute: members.audio_minute ?? published?.audioMinute,
    leastSeconds: published?.leastSeconds ?? 0,
    request: members.request ?? published?.request,
    webSearches: members.web_searches ?? published?.webSearches,
  };
}

function toTiers(members: PriceMembers, published: readonly TokenTier[]): TokenTier[] {
  const [base, ...higher] = published;
  const rates = base === undefined ? ownRates(members) : overrideRates(base, members);
  if (rates === undefined) return [];
  const { input, output, tiers } = members;
  const first = { above: 0, ...rates };
  if (tiers !== undefined) {
    const sorted = tiers.toSorted((left, right) => left.above - right.above);
    return [first, ...sorted.map((tier) => ({ above: tier.above, ...overrideRates(rates, tier) }))];
  }
  if (input !== undefined || output !== undefined) return [first];
  return [first, ...higher.map((tier) => ({ above: tier.above, ...overrideRates(tier, members) }))];
}

/** What a service tier leaves out, and its prices for long prompts, keep their share of the other prices. */
function toServiceTiers(
  { service_tiers: given = {} }: PriceMembers,
  tokens: readonly TokenTier[],
): ModelPrice["serviceTiers"] {
  const [first] = tokens;
  if (first === undefined) return {};
  const scaled = (rate: number, base: number, own: number | undefined): number | undefined =>
    own === undefined ? undefined : base === 0 ? own : rate * (own / base);
  return Object.fromEntries(
    Object.entries(given).map(([name, rates]) => [
      name,
      tokens.map((tier) => {
        const { input, output } = rates;
        const own = {
          ...rates,
          ...defined({
            input: scaled(tier.input, first.input, input),
            output: scaled(tier.output, first.output, output),
          }),
        };
        return { above: tier.above, ...overrideRates(tier, tier === first ? rates : own) };
      }),
    ]),
  );
}

function ownRates(given: PriceMembers): TokenRates | undefined {
  const { input, output } = given;
  if (input === undefined || output === undefined) return undefined;
  return completeRates({ input, output, ...defined(toRates(given)) });
}

function overrideRates(base: TokenRates, given: Partial<PriceMembers>): TokenRates {
  const { input = base.input, output = base.output } = given;
  const ofInput = (rate: number): number => (base.input === 0 ? input : rate * (input / base.input));
  const ofOutput = (rate: number): number => (base.output === 0 ? output : rate * (output / base.output));
  return {
    input,
    output,
    cacheRead: ofInput(base.cacheRead),
    cacheWrite: ofInput(base.cacheWrite),
    cacheWriteHour: ofInput(base.cacheWriteHour),
    audioInput: ofInput(base.audioInput),
    audioCacheRead: ofInput(base.audioCacheRead),
    audioOutput: ofOutput(base.audioOutput),
    imageOutput: ofOutput(base.imageOutput),
    reasoning: ofOutput(base.reasoning),
    citation: ofOutput(base.citation),
    ...defined(toRates(given)),
  };
}

function toRates(given: Partial<PriceMembers>): Partial<Record<keyof TokenRates, number | undefined>> {
  return {
    cacheRead: given.cache_read,
    cacheWrite: given.cache_write,
    cacheWriteHour: given.cache_write_1h,
    audioInput: given.audio_input,
    audioCacheRead: given.audio_cache_read,
    audioOutput: given.audio_output,
    imageOutput: given.image_output,
    reasoning: given.reasoning,
    citation: given.citation,
  };
}

function defined(rates: Partial<Record<keyof TokenRates, number | undefined>>): Partial<TokenRates> {
  return Object.fromEntries(Object.entries(rates).filter(([, rate]) => rate !== undefined));
}

/** HTTP route that shows which prices apply to the models which the caller's organization may use. */
import { listPrices, type DatedPriceObject, type PriceObject } from "../api/prices.ts";
import { route, type Route } from "../http/route.ts";
import { dateHolding, type DatedPrice, type TokenTier } from "../pricing/model-price.ts";
import type { PriceSource, Prices } from "../pricing/prices.ts";
import type { Registry } from "../routing/registry.ts";

type PricedModels = Pick<Registry, "describe" | "list" | "routedModel">;

export function priceRoutes(registry: PricedModels, prices: Prices): Route[] {
  return [
    route(listPrices, async ({ query, scope }) => {
      const asked = query.get("model");
      const models =
        asked === null ? registry.list(scope.key) : [{ ...registry.describe(asked, scope.key), id: asked }];
      await prices.load();
      const data = models
        .toSorted((left, right) => (left.id < right.id ? -1 : 1))
        .flatMap(({ id, root }) =>
          registry.routedModel(root).targets.map(({ engine, model }): PriceObject => {
            const source = prices.sourceOf(scope.key, { modelId: root, requested: id, engine, model });
            return { object: "price", model: id, engine, engine_model: model, ...describe(source) };
          }),
        );
      const { currency, release } = prices;
      return { kind: "json", value: { object: "list", currency, published: release ?? null, data } };
    }),
  ];
}

function describe(source: PriceSource): Pick<PriceObject, "source" | "name" | "reason" | "prices"> {
  const { kind } = source;
  if (kind === "unknown") return { source: kind, name: null, reason: source.reason, prices: [] };
  const current = dateHolding(source.prices, Date.now());
  const dated = source.prices.map((price) => toObject(price, price === current));
  return { source: kind, name: source.name, reason: null, prices: dated };
}

function toObject({ conversion, fromMs, hours, price }: DatedPrice, current: boolean): DatedPriceObject {
  return {
    from: fromMs === 0 ? null : new Date(fromMs).toISOString().slice(0, 10),
    hours: hours === undefined ? null : { from: timeOf(hours[0]), to: timeOf(hours[1]) },
    current,
    converted_from: conversion === undefined ? null : { currency: conversion.currency, exchange_rate: conversion.rate },
    tokens: price.tokens.map(toRates),
    service_tiers: Object.fromEntries(
      Object.entries(price.serviceTiers).map(([name, tiers]) => [name, tiers.map(toRates)]),
    ),
    characters: price.characters ?? null,
    audio_minute: price.audioMinute ?? null,
    request: price.request ?? null,
    web_searches: price.webSearches ?? null,
  };
}

function timeOf(secondOfDay: number): string {
  return new Date(secondOfDay * 1000).toISOString().slice(11, 19);
}

function toRates(tier: TokenTier): DatedPriceObject["tokens"][number] {
  return {
    above: tier.above,
    input: rounded(tier.input),
    output: rounded(tier.output),
    cache_read: rounded(tier.cacheRead),
    cache_write: rounded(tier.cacheWrite),
    cache_write_1h: rounded(tier.cacheWriteHour),
    audio_input: rounded(tier.audioInput),
    audio_cache_read: rounded(tier.audioCacheRead),
    audio_output: rounded(tier.audioOutput),
    image_output: rounded(tier.imageOutput),
    reasoning: rounded(tier.reasoning),
    citation: rounded(tier.citation),
  };
}

/** Shares of other rates are not exact. */
function rounded(rate: number): number {
  return Number(rate.toPrecision(12));
}

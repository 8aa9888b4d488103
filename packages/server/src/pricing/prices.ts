/** Which price applies to a call, and why: the organization's own, the configured one, else what the vendor of its engine publishes. */
import type { OrganizationPrices, TokenPrices } from "../config/token-prices.ts";
import { needPublished, readConfiguredPrices, type PricesOfModels } from "./configured-prices.ts";
import { readExchangeRates, type Conversion } from "./exchange-rates.ts";
import { dateHolding, type DatedPrice, type ModelPrice } from "./model-price.ts";
import { loadPublishedPrices } from "./published/load-prices.ts";
import {
  mayHaveVendor,
  type PublishedPrice,
  type PublishedPrices,
  type VendorSettings,
} from "./published/published-prices.ts";
import { tableRelease } from "./published/table.ts";

/** The organization that pays for a call: it can have prices of its own. */
export interface Payer {
  readonly organizationId: string;
  readonly organizationName: string;
}

/** What a call went to. */
export interface PricedModel {
  /** The model ID that answered, or was asked for. */
  readonly modelId: string;
  /** Where that is another name of the same model: as the caller wrote it. */
  readonly requested?: string | undefined;
  readonly engine: string;
  /** The model's name at the engine. */
  readonly model: string;
}

/** A call that an application reports. */
export interface ReportedModel {
  /** As telemetry names it. */
  readonly provider: string;
  /** The requested model, then the one that answered; empty where it is not known. */
  readonly models: readonly string[];
}

export interface FoundPrice {
  readonly price: ModelPrice;
  /** `organization gpt-4o`, `configured gpt-4o EUR 1.08` or `published openai/gpt-4o 2026-09-23`. */
  readonly source: string;
  /** How it was converted into the currency of costs. */
  readonly conversion?: Conversion | undefined;
  /** Whether the vendor charges what its answers say. */
  readonly isReported: boolean;
}

/** A price with all that follows it, and where it comes from. */
export type PriceSource =
  | {
      readonly kind: "organization" | "configured" | "published";
      readonly name: string;
      readonly prices: readonly DatedPrice[];
    }
  | { readonly kind: "unknown"; readonly reason: string };

export interface PricesOptions {
  readonly configured: TokenPrices;
  /** By an organization's name or identifier. */
  readonly ofOrganizations: OrganizationPrices;
  /** Whether published prices count without being configured. */
  readonly published: boolean;
  readonly currency: string;
  /** What one unit of other currencies is in it. */
  readonly exchangeRates?: Readonly<Record<string, number>>;
  /** Undefined for an engine that is not configured. */
  settingsOf(engine: string): VendorSettings | undefined;
}

/** Types of engines that run on this machine. */
const ownTypes: ReadonlySet<string> = new Set(["llama_cpp", "sherpa_onnx", "flite", "espeak", "pocketsphinx"]);

/** Vendors publish in US dollars. */
const publishedCurrency = "USD";

export class Prices {
  readonly currency: string;
  /** By model ID, or by engine and model. */
  readonly configured: PricesOfModels;
  readonly #ofOrganizations: ReadonlyMap<string, PricesOfModels>;
  readonly #settingsOf: PricesOptions["settingsOf"];
  readonly #usesPublished: boolean;
  /** Of published prices. */
  readonly #conversion: Conversion | undefined;
  #published: PublishedPrices | undefined;

  /** @throws Error for a configured model without a price, and for a currency that does not exist or cannot be converted */
  static async open(options: PricesOptions): Promise<Prices> {
    const { configured, currency, ofOrganizations, published, settingsOf } = options;
    const exchangeRates = readExchangeRates(currency, options.exchangeRates ?? {});
    const available = exchangeRates.has(publishedCurrency);
    const conversion = available ? exchangeRates.conversionFrom(publishedCurrency, "") : undefined;
    const needsThem = [configured, ...Object.values(ofOrganizations)].some(needPublished);
    const loaded = available && needsThem ? await loadPublishedPrices(conversion) : undefined;
    return new Prices({
      configured: readConfiguredPrices(configured, { published: loaded, exchangeRates }),
      ofOrganizations: new Map(
        Object.entries(ofOrganizations).map(([name, prices]) => [
          name,
          readConfiguredPrices(prices, {
            published: loaded,
            exchangeRates,
            setting: `telemetry.organization_prices.${name}`,
          }),
        ]),
      ),
      currency,
      conversion,
      loaded,
      settingsOf,
      usesPublished: published && available,
    });
  }

  private constructor(parts: {
    readonly configured: PricesOfModels;
    readonly ofOrganizations: ReadonlyMap<string, PricesOfModels>;
    readonly currency: string;
    readonly conversion: Conversion | undefined;
    readonly loaded: PublishedPrices | undefined;
    readonly settingsOf: PricesOptions["settingsOf"];
    readonly usesPublished: boolean;
  }) {
    this.currency = parts.currency;
    this.#conversion = parts.conversion;
    this.configured = parts.configured;
    this.#ofOrganizations = parts.ofOrganizations;
    this.#settingsOf = parts.settingsOf;
    this.#usesPublished = parts.usesPublished;
    this.#published = parts.loaded;
  }

  /** The release of the published prices; undefined if they do not count. */
  get release(): typeof tableRelease | undefined {
    return this.#usesPublished ? tableRelease : undefined;
  }

  /** Loads the published prices if they count: for calls, and for telemetry, before the first one is priced. */
  async load(): Promise<void> {
    if (this.#usesPublished) this.#published ??= await loadPublishedPrices(this.#conversion);
  }

  /** Whether an engine of these is one whose vendor's prices count. */
  needsPublished(engines: Readonly<Record<string, VendorSettings>>): boolean {
    return this.#usesPublished && Object.values(engines).some(mayHaveVendor);
  }

  /** Of a call that this server served. */
  ofCall(payer: Payer, call: PricedModel, unixMs: number): FoundPrice | undefined {
    return found(this.sourceOf(payer, call), unixMs);
  }

  /** Whether the engine runs on this machine, where calls have no vendor who charges for them. */
  isOwn(engine: string): boolean {
    const settings = this.#settingsOf(engine);
    return settings !== undefined && ownTypes.has(settings.type);
  }

  /** Of a call that an application reports. */
  ofReported(payer: Payer, { models, provider }: ReportedModel, unixMs: number): FoundPrice | undefined {
    const configured = this.#configuredOf(payer, models);
    if (configured !== undefined) return found(configured, unixMs);
    const vendor = this.#usesPublished ? this.#published?.vendorNamed(provider) : undefined;
    if (vendor === undefined) return undefined;
    for (const model of models.toReversed()) {
      const price = model === "" ? undefined : this.#published?.of(vendor, model);
      if (price !== undefined) return found({ kind: "published", ...price }, unixMs);
    }
    return undefined;
  }

  sourceOf(payer: Payer, { engine, model, modelId, requested }: PricedModel): PriceSource {
    const configured = this.#configuredOf(payer, [`${engine}/${model}`, modelId, requested]);
    if (configured !== undefined) return configured;
    const published = this.#publishedOf(engine, model);
    return typeof published === "string" ? { kind: "unknown", reason: published } : { kind: "published", ...published };
  }

  /** An organization's price of any name takes precedence over everyone's. */
  #configuredOf(payer: Payer, names: readonly (string | undefined)[]): PriceSource | undefined {
    const own = this.#ofOrganizations.size === 0 ? undefined : this.#pricesOf(payer);
    return (own && configuredIn("organization", own, names)) ?? configuredIn("configured", this.configured, names);
  }

  #pricesOf({ organizationId, organizationName }: Payer): PricesOfModels | undefined {
    return this.#ofOrganizations.get(organizationId) ?? this.#ofOrganizations.get(organizationName);
  }

  /** Or why there is none. */
  #publishedOf(engine: string, model: string): PublishedPrice | string {
    if (!this.#usesPublished) {
      return this.currency === publishedCurrency || this.#conversion !== undefined
        ? "telemetry.published_prices is false."
        : `Vendors publish in ${publishedCurrency}, and telemetry.currency is ${this.currency}, without a rate in telemetry.exchange_rates.`;
    }
    const settings = this.#settingsOf(engine);
    const vendor = settings === undefined ? undefined : this.#published?.vendorOfEngine(settings);
    if (vendor === undefined) return `No vendor is known for the engine ${engine}.`;
    return this.#published?.of(vendor, model) ?? `The table has no price of ${model} at ${vendor}.`;
  }
}

function configuredIn(
  kind: "organization" | "configured",
  all: PricesOfModels,
  names: readonly (string | undefined)[],
): PriceSource | undefined {
  for (const name of names) {
    const prices = name === undefined ? undefined : all.get(name);
    if (prices !== undefined) return { kind, name: name!, prices };
  }
  return undefined;
}

/** https://openrouter.ai/docs/use-cases/usage-accounting: what a call costs depends on who served it. */
const reportingVendor = "openrouter/";

function found(source: PriceSource, unixMs: number): FoundPrice | undefined {
  if (source.kind === "unknown") return undefined;
  const { kind, name, prices } = source;
  const release = kind === "published" ? ` ${tableRelease.date}` : "";
  const isReported = kind === "published" && name.startsWith(reportingVendor);
  const { conversion, price } = dateHolding(prices, unixMs);
  const rate = conversion === undefined ? "" : ` ${conversion.currency} ${conversion.rate}`;
  return { price, source: `${kind} ${name}${release}${rate}`, conversion, isReported };
}

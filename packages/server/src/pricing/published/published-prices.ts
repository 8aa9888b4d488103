/** Answers what a vendor publishes for a model. */
import type { Conversion } from "../exchange-rates.ts";
import type { DatedPrice } from "../model-price.ts";
import { compileMatch, createVendorFinders, type VendorFinder } from "./matching.ts";
import { datedPrices } from "./read-price.ts";
import type { PublishedModel, PublishedTable, PublishedVendor } from "./table.ts";

export interface PublishedPrice {
  /** The vendor and its name of the model: `anthropic/claude-sonnet-4-5`. */
  readonly name: string;
  /** At least one. */
  readonly prices: readonly DatedPrice[];
}

/** The parts of an engine's settings that tell its vendor. */
export interface VendorSettings {
  readonly type: string;
  readonly base_url?: string | undefined;
}

/** Vendors by the type of an engine, where its address does not tell another one. */
const vendorsOfTypes: Readonly<Record<string, string>> = {
  azure_openai: "azure",
  anthropic: "anthropic",
  google: "google",
  amazon_bedrock: "aws",
  mistral: "mistral",
  cohere: "cohere",
};

/** Whether an engine can have a vendor at all, without the table: servers of others are mostly not reached by HTTPS. */
export function mayHaveVendor({ base_url: url, type }: VendorSettings): boolean {
  return Object.hasOwn(vendorsOfTypes, type) || url?.startsWith("https://") === true;
}

/** Names of vendors in telemetry that the table does not recognize, or takes for another one. */
const vendorsOfNames: readonly (readonly [RegExp, string])[] = [
  [/^az(?:ure)?[._-]/, "azure"],
  [/^x_ai$/, "x-ai"],
  [/^gcp\./, "google"],
];

/** Longer names of models and vendors are not looked up. */
const longestName = 256;
/** Of names whose price is remembered. */
const mostRemembered = 5_000;

/** Whether the beginning of a URL has its whole host, all but the top-level domain at least. */
function isOfHost(url: string, beginning: string | undefined): boolean {
  const origin = URL.parse(url)?.origin ?? url;
  if (beginning === undefined || beginning.length >= origin.length) return beginning !== undefined;
  const rest = origin.slice(beginning.length);
  return rest.startsWith(":") || (beginning.endsWith(".") && !rest.includes("."));
}

export class PublishedPrices {
  readonly #vendors: readonly PublishedVendor[];
  readonly #conversion: Conversion | undefined;
  readonly #finders: ReadonlyMap<string, VendorFinder>;
  readonly #addresses: readonly (readonly [pattern: RegExp, vendor: string])[];
  readonly #names: readonly (readonly [test: (name: string) => boolean, vendor: string])[];
  readonly #modelNames: readonly (readonly [test: (name: string) => boolean, vendor: string])[];
  readonly #prices = new WeakMap<PublishedModel, readonly DatedPrice[]>();
  readonly #remembered = new Map<string, PublishedPrice | null>();
  /** Comparing an address with every vendor's costs more than all else that a call's price needs. */
  readonly #engines = new WeakMap<VendorSettings, string | null>();

  /** @param conversion undefined: costs are in US dollars, like published prices */
  constructor(table: PublishedTable, conversion?: Conversion) {
    this.#vendors = table;
    this.#conversion = conversion;
    this.#finders = createVendorFinders(table);
    this.#addresses = table.map(({ api_pattern, id }) => [new RegExp(`^(?:${api_pattern})`), id] as const);
    this.#names = table.flatMap(({ id, provider_match: match }) =>
      match === undefined ? [] : [[compileMatch(match), id] as const],
    );
    this.#modelNames = table.flatMap(({ id, model_match: match }) =>
      match === undefined ? [] : [[compileMatch(match), id] as const],
    );
  }

  /** The vendor behind an engine; undefined for servers of others and for engines on this machine. */
  vendorOfEngine(settings: VendorSettings): string | undefined {
    const known = this.#engines.get(settings);
    if (known !== undefined) return known ?? undefined;
    const { base_url: url, type } = settings;
    const byAddress =
      url === undefined ? undefined : this.#addresses.find(([pattern]) => isOfHost(url, pattern.exec(url)?.[0]))?.[1];
    const vendor = byAddress ?? (Object.hasOwn(vendorsOfTypes, type) ? vendorsOfTypes[type] : undefined);
    this.#engines.set(settings, vendor ?? null);
    return vendor;
  }

  /** The vendor that telemetry names. */
  vendorNamed(provider: string): string | undefined {
    if (provider.length > longestName) return undefined;
    const name = provider.toLowerCase();
    // The AI SDK's names say the API too: `openai.chat`.
    for (const part of [name, name.split(".", 1)[0]!]) {
      const special = vendorsOfNames.find(([pattern]) => pattern.test(part))?.[1];
      const known = special ?? (this.#finders.has(part) ? part : this.#names.find(([test]) => test(part))?.[1]);
      if (known !== undefined) return known;
    }
    return undefined;
  }

  /** A model at a vendor. */
  of(vendor: string, model: string): PublishedPrice | undefined {
    return model.length > longestName ? undefined : this.#remember(`${vendor} ${model}`, () => this.#at(vendor, model));
  }

  /** A model by its name alone, which may begin with a vendor's. */
  named(model: string): PublishedPrice | undefined {
    return model.length > longestName ? undefined : this.#remember(model, () => this.#named(model));
  }

  #named(model: string): PublishedPrice | undefined {
    const slash = model.indexOf("/");
    const vendor = slash === -1 ? undefined : this.vendorNamed(model.slice(0, slash));
    if (vendor !== undefined) {
      const found = this.#at(vendor, model.slice(slash + 1)) ?? this.#at(vendor, model);
      if (found !== undefined) return found;
    }
    const bare = model.slice(model.lastIndexOf("/") + 1);
    for (const name of [model, bare]) {
      const maker = this.#modelNames.find(([test]) => test(name.toLowerCase()))?.[1];
      const found = maker === undefined ? undefined : this.#at(maker, name);
      if (found !== undefined) return found;
    }
    // The beginning of a name tells no vendor of OpenAI's models of embeddings.
    return this.#at("openai", bare);
  }

  #at(vendor: string, name: string): PublishedPrice | undefined {
    const model = this.#finders.get(vendor)?.find(name);
    if (model === undefined) return undefined;
    let prices = this.#prices.get(model);
    if (prices === undefined) {
      const maker = this.#vendors.find(({ models }) => models.includes(model))?.id ?? vendor;
      this.#prices.set(model, (prices = datedPrices(model, maker, this.#conversion)));
    }
    return { name: `${vendor}/${model.id}`, prices };
  }

  #remember(key: string, find: () => PublishedPrice | undefined): PublishedPrice | undefined {
    const known = this.#remembered.get(key);
    if (known !== undefined) return known ?? undefined;
    const found = find();
    if (this.#remembered.size >= mostRemembered) this.#remembered.clear();
    this.#remembered.set(key, found ?? null);
    return found;
  }
}

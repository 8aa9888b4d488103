/** Finds a vendor's model by its name, as @pydantic/genai-prices does, fast enough for names that strangers choose. */
import type { MatchLogic } from "@pydantic/genai-prices";
import type { PublishedModel, PublishedTable, PublishedVendor } from "./table.ts";

/** Whether a name in lower case matches. */
type Test = (name: string) => boolean;

export function compileMatch(match: MatchLogic): Test {
  if ("or" in match) {
    const tests = match.or.map(compileMatch);
    return (name) => tests.some((test) => test(name));
  }
  if ("and" in match) {
    const tests = match.and.map(compileMatch);
    return (name) => tests.every((test) => test(name));
  }
  if ("regex" in match) {
    const pattern = new RegExp(match.regex);
    return (name) => pattern.test(name);
  }
  if ("equals" in match) return equalTo(match.equals.toLowerCase());
  if ("starts_with" in match) {
    const text = match.starts_with.toLowerCase();
    return (name) => name.startsWith(text);
  }
  if ("ends_with" in match) {
    const text = match.ends_with.toLowerCase();
    return (name) => name.endsWith(text);
  }
  const text = match.contains.toLowerCase();
  return (name) => name.includes(text);
}

function equalTo(text: string): Test {
  return (name) => name === text;
}

/** One vendor's models: most are found by their exact names, the others are compared one by one. */
export class ModelFinder {
  readonly #models: readonly PublishedModel[];
  /** Indexes of the first model with each exact name. */
  readonly #exact = new Map<string, number>();
  readonly #others: (readonly [index: number, test: Test])[] = [];

  constructor({ models }: Pick<PublishedVendor, "models">) {
    this.#models = models;
    for (const [index, { match }] of models.entries()) {
      for (const alternative of "or" in match ? match.or : [match]) {
        if (!("equals" in alternative)) this.#others.push([index, compileMatch(alternative)]);
        else {
          const name = alternative.equals.toLowerCase();
          if (!this.#exact.has(name)) this.#exact.set(name, index);
        }
      }
    }
  }

  /** The first model that matches. @param name in lower case */
  find(name: string): PublishedModel | undefined {
    const exact = this.#exact.get(name) ?? Infinity;
    const other = this.#others.find(([index, test]) => index > exact || test(name))?.[0] ?? Infinity;
    return this.#models[Math.min(exact, other)];
  }
}

/** A day in a name, as some vendors write it. */
const compactDay = /-(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)/g;

export class VendorFinder {
  readonly id: string;
  readonly #own: ModelFinder;
  readonly #fallbacks: readonly ModelFinder[];

  constructor(vendor: PublishedVendor, finders: ReadonlyMap<string, ModelFinder>) {
    this.id = vendor.id;
    this.#own = finders.get(vendor.id)!;
    this.#fallbacks = (vendor.fallback_model_providers ?? []).flatMap((id) => finders.get(id) ?? []);
  }

  find(model: string): PublishedModel | undefined {
    const name = model.toLowerCase().trim();
    const found = this.#find(name);
    if (found !== undefined) return found;
    const withDashes = name.replace(compactDay, "-$1-$2-$3");
    return withDashes === name ? undefined : this.#find(withDashes);
  }

  #find(name: string): PublishedModel | undefined {
    const own = this.#own.find(name);
    if (own !== undefined) return own;
    for (const fallback of this.#fallbacks) {
      const found = fallback.find(name);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

export function createVendorFinders(table: PublishedTable): ReadonlyMap<string, VendorFinder> {
  const finders = new Map(table.map((vendor) => [vendor.id, new ModelFinder(vendor)]));
  return new Map(table.map((vendor) => [vendor.id, new VendorFinder(vendor, finders)]));
}

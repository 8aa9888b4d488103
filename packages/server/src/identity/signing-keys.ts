/**
 * The public keys of an identity provider. A token with an unknown key makes Sounding read them again, at most once in a
 * while, so that a provider may replace its keys at any time and invented tokens cost it nothing. While the provider is
 * down, the last keys stay in use.
 * https://www.rfc-editor.org/rfc/rfc7517
 */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey, type LocalJWKSet } from "jose";
import { inputLimit } from "../input-limits.ts";
import { isObject } from "../json-object.ts";
import { reasonOf, unavailable, type ProviderFetch } from "./provider-fetch.ts";

export interface SigningKeysOptions {
  /** The provider's name, for messages. */
  readonly name: string;
  readonly fetch: ProviderFetch;
  /** The address of the keys, from the metadata. */
  readonly url: () => Promise<string>;
  /** UNIX milliseconds. */
  readonly now: () => number;
}

/** Keys in use are read again in the background after this time. */
const refreshAfterMs = 600_000;
/** Keys that the provider may have withdrawn are not used longer than this, even if it is down. */
const longestUseMs = 86_400_000;
/** Between two attempts to read them. */
const cooldownMs = 10_000;
const maximumKeys = inputLimit({
  area: "Administration",
  bounds: "Public keys of an identity provider",
  value: 100,
  error: "identity_provider_unavailable",
});

export class SigningKeys {
  readonly #options: SigningKeysOptions;
  #set: LocalJWKSet | undefined;
  #readMs = Number.NEGATIVE_INFINITY;
  #attemptedMs = Number.NEGATIVE_INFINITY;
  #failure: unknown;
  #reading: Promise<LocalJWKSet> | undefined;

  constructor(options: SigningKeysOptions) {
    this.#options = options;
  }

  /** Finds the key of a token, for `jwtVerify`. @throws errors of jose; AppError identity_provider_unavailable */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const set = await this.#current();
    try {
      return await set(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || this.#isCoolingDown()) throw error;
      const newer = await this.#read();
      return await newer(header, token);
    }
  };

  async #current(): Promise<LocalJWKSet> {
    const ageMs = this.#options.now() - this.#readMs;
    if (this.#set === undefined || ageMs >= longestUseMs) {
      if (this.#reading === undefined && this.#isCoolingDown())
        throw unavailable(this.#options.name, reasonOf(this.#failure), this.#failure);
      return await this.#read();
    }
    if (ageMs >= refreshAfterMs && !this.#isCoolingDown()) this.#read().catch(() => {});
    return this.#set;
  }

  #isCoolingDown(): boolean {
    const sinceMs = this.#options.now() - this.#attemptedMs;
    return sinceMs >= 0 && sinceMs < cooldownMs;
  }

  #read(): Promise<LocalJWKSet> {
    if (this.#reading !== undefined) return this.#reading;
    this.#attemptedMs = this.#options.now();
    this.#reading = this.#request()
      .then(
        (set) => {
          this.#set = set;
          this.#readMs = this.#options.now();
          return set;
        },
        (error: unknown) => {
          this.#failure = error;
          throw error;
        },
      )
      .finally(() => {
        this.#reading = undefined;
      });
    return this.#reading;
  }

  async #request(): Promise<LocalJWKSet> {
    const { fetch, name, url } = this.#options;
    const response = await fetch(await url(), { headers: { accept: "application/json, application/jwk-set+json" } });
    if (response.status !== 200) throw unavailable(name, `its keys cannot be read: HTTP ${response.status}`);
    try {
      const value: unknown = await response.json();
      if (!isObject(value) || !Array.isArray(value["keys"])) throw new Error("the response is not a set of keys");
      if (value["keys"].length > maximumKeys) throw new Error(`there are more than ${maximumKeys}`);
      return createLocalJWKSet(value as unknown as JSONWebKeySet);
    } catch (error) {
      throw unavailable(name, `its keys cannot be used: ${reasonOf(error)}`, error);
    }
  }
}

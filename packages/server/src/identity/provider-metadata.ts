/**
 * The metadata of an identity provider, read in the background at the start and again from time to time. While the provider
 * is down, the last metadata stay in use, and nobody waits for them but those who sign in.
 * https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderMetadata
 */
import { allowInsecureRequests, customFetch, discoveryRequest, processDiscoveryResponse } from "oauth4webapi";
import type { AuthorizationServer } from "oauth4webapi";
import { abortable } from "../abort.ts";
import type { Logger } from "../logger.ts";
import { reasonOf, unavailable, type ProviderFetch } from "./provider-fetch.ts";

export interface MetadataOptions {
  /** The provider's name in the configuration. */
  readonly name: string;
  readonly issuer: URL;
  readonly allowHttp: boolean;
  readonly fetch: ProviderFetch;
  readonly logger: Logger;
  readonly closing: AbortSignal;
  /** UNIX milliseconds. */
  readonly now: () => number;
}

const refreshAfterMs = 3_600_000;
const firstPauseMs = 1000;
const longestPauseMs = 60_000;

export class ProviderMetadata {
  readonly #options: MetadataOptions;
  #known: AuthorizationServer | undefined;
  #readMs = 0;
  #reading: Promise<AuthorizationServer> | undefined;
  #failedMs = Number.NEGATIVE_INFINITY;
  #pauseMs = firstPauseMs;
  #failure: unknown;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: MetadataOptions) {
    this.#options = options;
    options.closing.addEventListener("abort", () => clearTimeout(this.#timer), { once: true });
    this.#readInBackground();
  }

  /** Whether the last attempt to read them succeeded. */
  get isAvailable(): boolean {
    return this.#failure === undefined && this.#known !== undefined;
  }

  /** @throws AppError identity_provider_unavailable, or the signal's reason */
  async get(signal: AbortSignal): Promise<AuthorizationServer> {
    const { name, now } = this.#options;
    if (this.#known !== undefined) {
      if (now() - this.#readMs >= refreshAfterMs) this.#readInBackground();
      return this.#known;
    }
    // An attempt that just failed is not repeated for everyone who clicks.
    const isFresh = this.#reading === undefined && now() - this.#failedMs < firstPauseMs;
    if (isFresh) throw unavailable(name, reasonOf(this.#failure), this.#failure);
    return await abortable(this.#read(), signal);
  }

  #readInBackground(): void {
    this.#read().catch(() => {});
  }

  #read(): Promise<AuthorizationServer> {
    clearTimeout(this.#timer);
    this.#reading ??= this.#request()
      .then(
        (metadata) => this.#keep(metadata),
        (error: unknown) => this.#fail(error),
      )
      .finally(() => {
        this.#reading = undefined;
      });
    return this.#reading;
  }

  async #request(): Promise<AuthorizationServer> {
    const { allowHttp, fetch, issuer, name } = this.#options;
    try {
      const response = await discoveryRequest(issuer, { [customFetch]: fetch, [allowInsecureRequests]: allowHttp });
      return await processDiscoveryResponse(issuer, response);
    } catch (error) {
      throw unavailable(name, `its metadata cannot be used: ${reasonOf(error)}`, error);
    }
  }

  #keep(metadata: AuthorizationServer): AuthorizationServer {
    const { logger, name, now } = this.#options;
    if (this.#failure !== undefined) logger.info({ provider: name }, "the identity provider is available again");
    this.#known = metadata;
    this.#readMs = now();
    this.#failure = undefined;
    this.#pauseMs = firstPauseMs;
    return metadata;
  }

  #fail(error: unknown): never {
    const { closing, logger, name, now } = this.#options;
    if (closing.aborted) throw error;
    // One line for an outage, not one for each attempt.
    if (this.#failure === undefined)
      logger.warn({ provider: name, reason: reasonOf(error) }, "the metadata of an identity provider cannot be read");
    this.#failure = error;
    this.#failedMs = now();
    this.#timer = setTimeout(() => this.#readInBackground(), this.#pauseMs);
    this.#timer.unref();
    this.#pauseMs = Math.min(2 * this.#pauseMs, longestPauseMs);
    throw error;
  }
}

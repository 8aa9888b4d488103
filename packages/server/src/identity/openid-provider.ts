/**
 * A provider of OpenID Connect: authorization requests, the answers to them, refresh tokens, and its signed tokens.
 * https://openid.net/specs/openid-connect-core-1_0.html
 */
import * as oauth from "oauth4webapi";
import { AppError } from "../errors.ts";
import { isLoopback, type ProviderSettings } from "../config/sign-in.ts";
import type { JsonObject } from "../json-object.ts";
import type { Logger } from "../logger.ts";
import { hasClaim, identityOf, type Identity } from "./claims.ts";
import { createProviderFetch, unavailable, type ProviderFetch } from "./provider-fetch.ts";
import { ProviderMetadata } from "./provider-metadata.ts";
import { describeFailure, signInFailure } from "./sign-in-failure.ts";
import { secretsOf, type SignInFlow } from "./sign-in-flow.ts";
import { SigningKeys } from "./signing-keys.ts";
import { InvalidToken, verifyToken, type TokenRules } from "./verify-token.ts";

/** A finished sign-in. */
export interface SignedIn {
  readonly identity: Identity;
  /** The provider's name for its own session (`sid`), which a logout may name. */
  readonly providerSession: string | undefined;
  readonly refreshToken: string | undefined;
}

/** What the provider says about an earlier sign-in. */
export interface Refreshed {
  /** Undefined if the provider said no more than that access goes on. */
  readonly identity: Identity | undefined;
  /** For the next time. */
  readonly refreshToken: string;
}

interface ReadClaims {
  readonly claims: JsonObject;
  readonly subject: string;
}

export interface ProviderOptions {
  readonly name: string;
  readonly settings: ProviderSettings;
  readonly logger: Logger;
  /** UNIX milliseconds. */
  readonly now?: () => number;
}

const longestSubject = 255;
const longestRefreshToken = 8_192;

export class OpenIdProvider {
  readonly name: string;
  readonly settings: ProviderSettings;
  readonly keys: SigningKeys;
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #closing = new AbortController();
  readonly #fetch: ProviderFetch;
  readonly #allowHttp: boolean;
  readonly #metadata: ProviderMetadata;
  readonly #client: oauth.Client;

  constructor({ name, settings, logger, now = Date.now }: ProviderOptions) {
    const issuer = new URL(settings.issuer);
    this.name = name;
    this.settings = settings;
    this.#logger = logger;
    this.#now = now;
    this.#fetch = createProviderFetch(name, settings.timeout_ms, this.#closing.signal);
    this.#allowHttp = settings.allow_http || isLoopback(issuer.hostname);
    this.#metadata = new ProviderMetadata({
      name,
      issuer,
      allowHttp: this.#allowHttp,
      fetch: this.#fetch,
      logger,
      closing: this.#closing.signal,
      now,
    });
    this.keys = new SigningKeys({
      name,
      fetch: this.#fetch,
      now,
      url: async () => this.#endpoint("jwks_uri", await this.#metadata.get(this.#closing.signal)),
    });
    this.#client = {
      client_id: settings.client_id ?? "",
      [oauth.clockTolerance]: settings.clock_skew_seconds,
      [oauth.clockSkew]: Math.round((now() - Date.now()) / 1000),
    };
  }

  /** The issuer without and with a slash at its end, which people mix up and which only one provider can have. */
  get issuers(): readonly string[] {
    const issuer = this.settings.issuer.replace(/\/+$/, "");
    return [issuer, `${issuer}/`];
  }

  get label(): string {
    return this.settings.label ?? this.name;
  }

  /** Whether people can sign in with it, not only machines with its tokens. */
  get signsPeopleIn(): boolean {
    return this.settings.client_id !== undefined;
  }

  get isAvailable(): boolean {
    return this.#metadata.isAvailable;
  }

  /** Where the browser goes to sign in. @throws AppError identity_provider_unavailable */
  async authorizationUrl(flow: SignInFlow, redirectUri: string, signal: AbortSignal): Promise<string> {
    const url = new URL(this.#endpoint("authorization_endpoint", await this.#metadata.get(signal)));
    const { codeVerifier, nonce, state } = secretsOf(flow);
    const { client_id: clientId = "", parameters, scopes } = this.settings;
    const all = {
      ...parameters,
      response_type: "code",
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: [...new Set(["openid", ...scopes])].join(" "),
      state,
      nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: "S256",
    };
    for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value);
    return url.href;
  }

  /**
   * Exchanges the provider's answer for the identity of the person.
   * @throws AppError sign_in_failed, identity_provider_unavailable
   */
  async finish(
    answer: URLSearchParams,
    { flow, redirectUri, signal }: { flow: SignInFlow; redirectUri: string; signal: AbortSignal },
  ): Promise<SignedIn> {
    const metadata = await this.#metadata.get(signal);
    const { codeVerifier, nonce, state } = secretsOf(flow);
    return await this.#attempt(signal, async () => {
      const validated = oauth.validateAuthResponse(metadata, this.#client, answer, state);
      const response = await oauth.authorizationCodeGrantRequest(
        metadata,
        this.#client,
        this.#clientAuthentication(metadata),
        validated,
        redirectUri,
        codeVerifier,
        this.#requestOptions(signal),
      );
      const tokens = await oauth.processAuthorizationCodeResponse(metadata, this.#client, response, {
        expectedNonce: nonce,
        requireIdToken: true,
      });
      const idToken = await this.#idToken(tokens.id_token ?? "");
      const { claims, subject } = await this.#complete(idToken, { metadata, tokens, signal });
      const sid = idToken.claims["sid"];
      return {
        identity: identityOf(this.name, subject, claims, this.settings),
        providerSession: typeof sid === "string" && sid.length <= longestSubject ? sid : undefined,
        refreshToken: refreshTokenOf(tokens),
      };
    });
  }

  /**
   * Asks the provider whether the person still has access.
   * @returns undefined if the provider refuses the refresh token: access has ended
   * @throws AppError identity_provider_unavailable, sign_in_failed
   */
  async refresh(refreshToken: string, subject: string, signal: AbortSignal): Promise<Refreshed | undefined> {
    const metadata = await this.#metadata.get(signal);
    return await this.#attempt(signal, async () => {
      const response = await oauth.refreshTokenGrantRequest(
        metadata,
        this.#client,
        this.#clientAuthentication(metadata),
        refreshToken,
        this.#requestOptions(signal),
      );
      let tokens: oauth.TokenEndpointResponse;
      try {
        tokens = await oauth.processRefreshTokenResponse(metadata, this.#client, response);
      } catch (error) {
        if (error instanceof oauth.ResponseBodyError && error.error === "invalid_grant") return undefined;
        throw error;
      }
      const known = tokens.id_token === undefined ? { claims: {}, subject } : await this.#idToken(tokens.id_token);
      if (known.subject !== subject) throw new InvalidToken("It names another person (`sub`).");
      const { claims } = await this.#complete(known, { metadata, tokens, signal });
      return {
        identity: Object.keys(claims).length === 0 ? undefined : identityOf(this.name, subject, claims, this.settings),
        refreshToken: refreshTokenOf(tokens) ?? refreshToken,
      };
    });
  }

  /** The rules of tokens for one of these audiences. */
  tokenRules(audiences: readonly string[], more: Pick<TokenRules, "requiredClaims" | "longestAgeSeconds">): TokenRules {
    return {
      keys: this.keys,
      algorithms: this.settings.algorithms,
      issuers: this.issuers,
      audiences,
      clockSkewSeconds: this.settings.clock_skew_seconds,
      now: this.#now,
      ...more,
    };
  }

  /** Aborts what is under way. */
  close(): void {
    this.#closing.abort(new AppError("overloaded", "The server is shutting down. Retry later."));
  }

  /** The library checks what the ID token claims, and TLS who sent it; here, its signature is checked as well. */
  async #idToken(token: string): Promise<ReadClaims> {
    const audiences = [this.settings.client_id ?? ""];
    const { claims } = await verifyToken(token, this.tokenRules(audiences, { requiredClaims: ["exp", "iat", "sub"] }));
    const { sub: subject } = claims;
    if (typeof subject === "string" && subject !== "" && subject.length <= longestSubject) return { claims, subject };
    throw new InvalidToken(`Its claim \`sub\` is not text with 1 to ${longestSubject} characters.`);
  }

  /** With the claims that only the provider's userinfo has. */
  async #complete(
    { claims, subject }: ReadClaims,
    from: { metadata: oauth.AuthorizationServer; tokens: oauth.TokenEndpointResponse; signal: AbortSignal },
  ): Promise<ReadClaims> {
    const { metadata, signal, tokens } = from;
    if (!this.#lacksClaims(claims, metadata)) return { claims, subject };
    const response = await oauth.userInfoRequest(
      metadata,
      this.#client,
      tokens.access_token,
      this.#requestOptions(signal),
    );
    const more = await oauth.processUserInfoResponse(metadata, this.#client, subject, response);
    return { claims: { ...more, ...claims }, subject };
  }

  #lacksClaims(claims: JsonObject, metadata: oauth.AuthorizationServer): boolean {
    if (metadata.userinfo_endpoint === undefined) return false;
    const { claims: names, rules } = this.settings;
    const wanted = [
      names.email,
      names.name,
      ...rules.flatMap(({ claim, values }) => claim ?? (values && names.groups) ?? []),
    ];
    return wanted.some((name) => !hasClaim(claims, name));
  }

  #clientAuthentication(metadata: oauth.AuthorizationServer): oauth.ClientAuth {
    const { client_secret: secret } = this.settings;
    if (secret === undefined) return oauth.None();
    const methods = metadata.token_endpoint_auth_methods_supported;
    const takesBasic = methods === undefined || methods.includes("client_secret_basic");
    return takesBasic ? oauth.ClientSecretBasic(secret) : oauth.ClientSecretPost(secret);
  }

  #requestOptions(signal: AbortSignal) {
    return { [oauth.customFetch]: this.#fetch, [oauth.allowInsecureRequests]: this.#allowHttp, signal };
  }

  #endpoint(
    name: "authorization_endpoint" | "jwks_uri",
    { [name]: url }: Pick<oauth.AuthorizationServer, typeof name>,
  ): string {
    if (url === undefined || !URL.canParse(url)) throw unavailable(this.name, `its metadata have no usable ${name}`);
    const { protocol } = new URL(url);
    if (protocol === "https:" || (protocol === "http:" && this.#allowHttp)) return url;
    throw unavailable(this.name, `its ${name} is not an https address`);
  }

  /** Turns failures of the protocol into errors that say nothing of secrets. */
  async #attempt<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof AppError || signal.aborted) throw error;
      this.#logger.warn(
        { provider: this.name, reason: describeFailure(error) },
        "a sign-in at an identity provider failed",
      );
      throw signInFailure(this.label, error);
    }
  }
}

function refreshTokenOf({ refresh_token: token }: oauth.TokenEndpointResponse): string | undefined {
  return token === undefined || token.length > longestRefreshToken ? undefined : token;
}

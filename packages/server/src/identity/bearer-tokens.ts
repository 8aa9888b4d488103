/**
 * Checks the signed tokens (JWT) of machines, with a cache, since every request carries one. A checked token stays valid until
 * it expires.
 * https://www.rfc-editor.org/rfc/rfc9068
 */
import { createHash } from "node:crypto";
import { decodeJwt } from "jose";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import { isObject, nonEmptyText } from "../json-object.ts";
import { identityOf, type Identity } from "./claims.ts";
import type { OpenIdProvider } from "./openid-provider.ts";
import { InvalidToken, tokenBytes, verifyToken } from "./verify-token.ts";

/** The owner of a valid token. */
export interface TokenOwner extends Identity {
  /** UNIX milliseconds. */
  readonly expiresMs: number;
}

const maximumCached = 10_000;
/** How long a refused token is refused without another look. */
const refusedAgeMs = 1000;
const concurrentChecks = inputLimit({
  area: "Administration",
  bounds: "Tokens of identity providers that are verified at the same time",
  value: 256,
  error: "overloaded",
});
const longestSubject = 255;
/** Of access tokens; many providers name none. */
const acceptedTypes = new Set(["jwt", "at+jwt", "application/at+jwt"]);

export class BearerTokens {
  readonly #now: () => number;
  readonly #valid = new Map<string, TokenOwner>();
  readonly #refused = new Map<string, { readonly error: AppError; readonly untilMs: number }>();
  readonly #checks = new Map<string, Promise<TokenOwner>>();
  #providers: readonly OpenIdProvider[] = [];

  /** @param now UNIX milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Sets whose tokens are accepted. What was checked before is forgotten. */
  accept(providers: Iterable<OpenIdProvider>): void {
    this.#providers = [...providers].filter(({ settings }) => settings.audiences.length > 0);
    this.#valid.clear();
    this.#refused.clear();
    this.#checks.clear();
  }

  /** Whether the text is a token rather than a key of this server. */
  isToken(secret: string): boolean {
    return this.#providers.length > 0 && /^ey[\w-]+\.[\w-]+\.[\w-]*$/.test(secret.slice(0, tokenBytes));
  }

  /**
   * The owner of a token; synchronous if it was checked before.
   * @throws AppError invalid_api_key; identity_provider_unavailable; overloaded
   */
  check(token: string): TokenOwner | Promise<TokenOwner> {
    if (token.length > tokenBytes) throw refused(`It has more than ${tokenBytes} characters.`);
    const hash = createHash("sha256").update(token).digest("base64url");
    const owner = this.#valid.get(hash);
    if (owner !== undefined) {
      if (this.#now() < owner.expiresMs) return owner;
      this.#valid.delete(hash);
      throw refused("It has expired (`exp`).");
    }
    const refusal = this.#refused.get(hash);
    if (refusal !== undefined && this.#now() < refusal.untilMs) throw refusal.error;
    return this.#checks.get(hash) ?? this.#start(token, hash);
  }

  #start(token: string, hash: string): Promise<TokenOwner> {
    if (this.#checks.size >= concurrentChecks)
      throw new AppError("overloaded", "Too many tokens are being checked. Retry later.", { retryAfterMs: 1000 });
    const checking = this.#verify(token)
      .then(
        (owner) => {
          // `accept` may have changed the rules meanwhile.
          if (this.#checks.get(hash) === checking) remember(this.#valid, hash, owner);
          return owner;
        },
        (error: unknown) => {
          if (error instanceof AppError && error.code === "invalid_api_key")
            remember(this.#refused, hash, { error, untilMs: this.#now() + refusedAgeMs });
          throw error;
        },
      )
      .finally(() => {
        if (this.#checks.get(hash) === checking) this.#checks.delete(hash);
      });
    this.#checks.set(hash, checking);
    return checking;
  }

  async #verify(token: string): Promise<TokenOwner> {
    const issuer = issuerOf(token) ?? "";
    const ofIssuer = this.#providers.filter(({ issuers }) => issuers.includes(issuer));
    let problem = "Its issuer (`iss`) is none that this server accepts.";
    // Several providers may have one issuer, for different clients.
    for (const provider of ofIssuer) {
      try {
        return await ownerOf(provider, token);
      } catch (error) {
        if (!(error instanceof InvalidToken)) throw error;
        problem = error.message;
      }
    }
    throw refused(problem);
  }
}

async function ownerOf(provider: OpenIdProvider, token: string): Promise<TokenOwner> {
  const { clock_skew_seconds: skew, audiences } = provider.settings;
  const rules = provider.tokenRules(audiences, { requiredClaims: ["exp", "sub"] });
  const { claims, header } = await verifyToken(token, rules);
  if (!acceptedTypes.has((header.typ ?? "JWT").toLowerCase()) || claims["events"] !== undefined)
    throw new InvalidToken("It is not an access token (`typ`).");
  if (claims["cnf"] !== undefined)
    throw new InvalidToken("It is bound to a key or certificate (`cnf`), which this server cannot check.");
  const subject = nonEmptyText(claims.sub);
  if (subject === undefined || subject.length > longestSubject)
    throw new InvalidToken(`Its claim \`sub\` is not text with 1 to ${longestSubject} characters.`);
  const expiresMs = ((claims.exp ?? 0) + skew) * 1000;
  return { ...identityOf(provider.name, subject, claims, provider.settings), expiresMs };
}

/** What the token says before it is checked. */
function issuerOf(token: string): string | undefined {
  try {
    const claims: unknown = decodeJwt(token);
    return isObject(claims) ? nonEmptyText(claims["iss"]) : undefined;
  } catch {
    return undefined;
  }
}

function remember<Value>(entries: Map<string, Value>, key: string, value: Value): void {
  if (entries.size >= maximumCached) entries.delete(entries.keys().next().value!);
  entries.set(key, value);
}

function refused(problem: string): AppError {
  return new AppError("invalid_api_key", `The token in the Authorization header is not valid. ${problem}`);
}

/**
 * Logout tokens, with which a provider says that a person's session has ended there.
 * https://openid.net/specs/openid-connect-backchannel-1_0.html#Validation
 */
import { AppError } from "../errors.ts";
import { isObject, nonEmptyText } from "../json-object.ts";
import type { OpenIdProvider } from "./openid-provider.ts";
import { InvalidToken, verifyToken } from "./verify-token.ts";

/** At least one of subject and provider session is there. */
export interface Logout {
  readonly provider: string;
  readonly subject: string | undefined;
  readonly providerSession: string | undefined;
  /** Identifies the token, so that it is obeyed once. */
  readonly tokenId: string;
  /** UNIX seconds from which the token is too old to be sent again. */
  readonly expiresAt: number;
}

const event = "http://schemas.openid.net/event/backchannel-logout";
const longestAgeSeconds = 600;
const longestTokenId = 255;

/** @throws AppError invalid_request if the token is not valid; identity_provider_unavailable */
export async function readLogoutToken(provider: OpenIdProvider, token: string): Promise<Logout> {
  try {
    return await read(provider, token);
  } catch (error) {
    if (!(error instanceof InvalidToken)) throw error;
    throw new AppError("invalid_request", `The logout token is not valid. ${error.message}`, { param: "logout_token" });
  }
}

async function read(provider: OpenIdProvider, token: string): Promise<Logout> {
  const { client_id: clientId = "", clock_skew_seconds: skew } = provider.settings;
  const rules = provider.tokenRules([clientId], { requiredClaims: ["iat", "jti", "events"], longestAgeSeconds });
  const { claims, header } = await verifyToken(token, rules);
  const { typ = "JWT" } = header;
  if (!["jwt", "logout+jwt"].includes(typ.toLowerCase())) throw new InvalidToken("It is not a logout token (`typ`).");
  const { events } = claims;
  if (!isObject(events) || !isObject(events[event])) throw new InvalidToken("It is not about a logout (`events`).");
  if (claims["nonce"] !== undefined) throw new InvalidToken("It is an ID token: it has a `nonce`.");
  const subject = nonEmptyText(claims.sub);
  const providerSession = nonEmptyText(claims["sid"]);
  if (subject === undefined && providerSession === undefined)
    throw new InvalidToken("It names neither a person (`sub`) nor a session (`sid`).");
  const tokenId = nonEmptyText(claims.jti);
  if (tokenId === undefined || tokenId.length > longestTokenId)
    throw new InvalidToken(`Its claim \`jti\` is not text with 1 to ${longestTokenId} characters.`);
  const expiresAt = (claims.iat ?? 0) + longestAgeSeconds + 2 * skew + 1;
  return { provider: provider.name, subject, providerSession, tokenId, expiresAt };
}

/**
 * Verifies signed tokens (JWT) of an identity provider: signature, issuer, audience and times.
 * https://www.rfc-editor.org/rfc/rfc8725
 */
import { errors, jwtVerify, type JWTHeaderParameters, type JWTPayload } from "jose";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import type { SigningKeys } from "./signing-keys.ts";

export const tokenBytes = inputLimit({
  area: "Administration",
  bounds: "Token of an identity provider",
  value: 65_536,
  unit: "characters",
  error: "invalid_api_key",
});

export interface TokenRules {
  readonly keys: SigningKeys;
  readonly algorithms: readonly string[];
  /** The issuer, as tokens may write it. */
  readonly issuers: readonly string[];
  /** The token's audience has one of these. */
  readonly audiences: readonly string[];
  readonly clockSkewSeconds: number;
  /** Claims that the token must have. */
  readonly requiredClaims: readonly string[];
  /** Longest age of the token by its claim `iat`. */
  readonly longestAgeSeconds?: number;
  /** UNIX milliseconds. */
  readonly now: () => number;
}

export interface VerifiedToken {
  readonly header: JWTHeaderParameters;
  readonly claims: JWTPayload;
}

/** A token that is not valid, with the reason in one sentence. */
export class InvalidToken extends Error {}

/** @throws InvalidToken; AppError identity_provider_unavailable if the provider's keys cannot be read */
export async function verifyToken(token: string, rules: TokenRules): Promise<VerifiedToken> {
  if (token.length > tokenBytes) throw new InvalidToken(`It has more than ${tokenBytes} characters.`);
  const nowMs = rules.now();
  try {
    const { payload, protectedHeader } = await jwtVerify(token, rules.keys.find, {
      // The key decides which of them fit: an HMAC with a public key as its secret is not among them.
      algorithms: [...rules.algorithms],
      issuer: [...rules.issuers],
      audience: [...rules.audiences],
      clockTolerance: rules.clockSkewSeconds,
      requiredClaims: [...rules.requiredClaims],
      currentDate: new Date(nowMs),
      ...(rules.longestAgeSeconds === undefined ? {} : { maxTokenAge: rules.longestAgeSeconds }),
    });
    if (payload.iat !== undefined && payload.iat * 1000 > nowMs + rules.clockSkewSeconds * 1000)
      throw new InvalidToken("It was issued in the future (`iat`). Check the clocks.");
    return { header: protectedHeader, claims: payload };
  } catch (error) {
    if (error instanceof AppError || error instanceof InvalidToken) throw error;
    throw new InvalidToken(problemOf(error), { cause: error });
  }
}

function problemOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return "It has expired (`exp`).";
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.reason === "missing") return `It does not have the claim \`${error.claim}\`.`;
    if (error.claim === "nbf" || error.claim === "iat") return `It is not valid yet (\`${error.claim}\`).`;
    return `Its claim \`${error.claim}\` does not have the expected value.`;
  }
  if (error instanceof errors.JOSEAlgNotAllowed) return "It is signed with an algorithm that is not allowed (`alg`).";
  if (error instanceof errors.JWKSNoMatchingKey)
    return "It is signed with a key that the provider does not have (`kid`).";
  if (error instanceof errors.JWKSMultipleMatchingKeys) return "It does not name its key (`kid`).";
  if (error instanceof errors.JWSSignatureVerificationFailed) return "Its signature is wrong.";
  return "It is not a signed token (JWT).";
}

/**
 * The secret of an API key. It has 256 random bits, so storing a plain SHA-256 is safe: it cannot be guessed, and a slow
 * password hash would only slow down every request.
 */
import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { inputLimit } from "../input-limits.ts";

/** Longer secrets cannot be ours and are not hashed. */
export const maximumSecretLength = inputLimit({
  area: "HTTP",
  bounds: "An API key",
  value: 256,
  unit: "characters",
  error: "invalid_api_key",
});

/** A new secret: `sk-` and 32 random bytes in base64url. */
export function newSecret(): string {
  return `sk-${randomBytes(32).toString("base64url")}`;
}

/** SHA-256 of the secret in base64url, the only form in which a secret is stored. */
export function hashSecret(secret: string): string {
  return hash("sha256", secret, "base64url");
}

/** Compares two hashes in constant time. */
export function equalHashes(left: string, right: string): boolean {
  return left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));
}

/** A part of the secret by which people recognize it: `sk-Ab3d…x9Yz`. */
export function redactSecret(secret: string): string {
  return `${secret.slice(0, 7)}…${secret.slice(-4)}`;
}

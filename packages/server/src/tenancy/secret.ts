/**
 * The secret of an API key. It has 256 random bits, so a plain SHA-256 is enough to keep it by: there is nothing to
 * guess, and a slow password hash would only slow down every request.
 */
import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { inputLimit } from "../input-limits.ts";

/** Longer texts are no key of ours and are not even hashed. */
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

/** SHA-256 of the secret in base64url, the only form in which a secret is kept. */
export function hashSecret(secret: string): string {
  return hash("sha256", secret, "base64url");
}

/** Whether two hashes are the same, in a time that does not tell where they differ. */
export function equalHashes(left: string, right: string): boolean {
  return left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));
}

/** Enough of a secret for a person to recognize it: `sk-Ab3d…x9Yz`. */
export function redactSecret(secret: string): string {
  return `${secret.slice(0, 7)}…${secret.slice(-4)}`;
}

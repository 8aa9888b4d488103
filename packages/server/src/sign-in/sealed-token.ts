/**
 * Encrypts what the database alone must not reveal: the refresh token of a session with a key that is derived from the session's own
 * secret, which only the browser has; the secret of one-time codes with one that only the password yields.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

export function sealToken(token: string, secret: string, ownerId: string): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, keyOf(secret), nonce).setAAD(Buffer.from(ownerId));
  const sealed = Buffer.concat([cipher.update(token, "utf8"), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64url");
}

/** @returns undefined if it was not sealed with this secret for this owner */
export function openToken(sealed: string, secret: string, ownerId: string): string | undefined {
  const bytes = Buffer.from(sealed, "base64url");
  const nonce = bytes.subarray(0, nonceBytes);
  const tag = bytes.subarray(nonceBytes, nonceBytes + tagBytes);
  try {
    const decipher = createDecipheriv(algorithm, keyOf(secret), nonce, { authTagLength: tagBytes })
      .setAAD(Buffer.from(ownerId))
      .setAuthTag(tag);
    return decipher.update(bytes.subarray(nonceBytes + tagBytes), undefined, "utf8") + decipher.final("utf8");
  } catch {
    return undefined;
  }
}

function keyOf(secret: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", "refresh token of a session", 32));
}

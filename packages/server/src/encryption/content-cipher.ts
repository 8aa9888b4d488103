/**
 * Encrypts content before it is stored, with AES-256-GCM. A value names its key, so that keys can be rotated, and belongs to its place: it
 * cannot be read in another row, or as another organization's. docs/adr/0248-redaction-and-encryption.md
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { AppError } from "../errors.ts";

const algorithm = "aes-256-gcm";
const keyBytes = 32;
/** NIST SP 800-38D: with random ones, a key may encrypt 2^32 values. */
const nonceBytes = 12;
const tagBytes = 16;
/** No JSON, and so no text that is stored as it is, begins like this. */
const prefix = "enc:v1:";
const encrypted = /^enc:v1:(?<id>[0-9a-f]{8}):/;

export interface ContentCipher {
  /** @param place names where the text is stored, such as the table, the organization and the row */
  encrypt(text: string, place: readonly string[]): string;
  /**
   * A text that was stored without encryption is returned as it is.
   * @throws AppError internal if the key is missing, or if the text was changed or moved
   */
  decrypt(stored: string, place: readonly string[]): string;
}

export interface ContentKey {
  /** Not secret. */
  readonly id: string;
  readonly bytes: Buffer;
}

/** For a server that does not encrypt: it says which key is missing. */
export const plainContent: ContentCipher = createContentCipher([]);

/** @param keys the first encrypts, all decrypt; none: texts are stored as they are */
export function createContentCipher(keys: readonly ContentKey[]): ContentCipher {
  const [current] = keys;
  const byId = new Map(keys.map((key) => [key.id, key]));
  return {
    encrypt(text, place) {
      if (current === undefined) return text;
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, current.bytes, nonce).setAAD(toBytes(place));
      const sealed = [nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()];
      return `${prefix}${current.id}:${Buffer.concat(sealed).toString("base64")}`;
    },
    decrypt(stored, place) {
      const id = encrypted.exec(stored)?.groups?.["id"];
      if (id === undefined) return stored;
      const key = byId.get(id);
      if (key === undefined) {
        throw new AppError(
          "internal",
          `The stored content is encrypted with the key ${id}, which the server does not have. Add the key to \`content_encryption\`.`,
        );
      }
      return open(Buffer.from(stored.slice(prefix.length + id.length + 1), "base64"), key, place);
    },
  };
}

function open(sealed: Buffer, { bytes, id }: ContentKey, place: readonly string[]): string {
  try {
    const decipher = createDecipheriv(algorithm, bytes, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes });
    decipher.setAAD(toBytes(place)).setAuthTag(sealed.subarray(-tagBytes));
    const text = decipher.update(sealed.subarray(nonceBytes, -tagBytes), undefined, "utf8");
    return text + decipher.final("utf8");
  } catch (cause) {
    throw new AppError(
      "internal",
      `The stored content cannot be decrypted with the key ${id}: it was changed, or copied from another place.`,
      { cause },
    );
  }
}

/** Lengths keep parts apart. */
function toBytes(place: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(place));
}

/** @returns undefined unless the text is 32 bytes as base64 or hex */
export function parseContentKey(text: string): ContentKey | undefined {
  const trimmed = text.trim();
  const bytes = /^[0-9a-f]{64}$/i.test(trimmed)
    ? Buffer.from(trimmed, "hex")
    : /^[\w+/-]{43}=?$/.test(trimmed)
      ? Buffer.from(trimmed, "base64")
      : undefined;
  if (bytes?.length !== keyBytes) return undefined;
  const id = createHash("sha256").update("sounding content key\n").update(bytes).digest("hex").slice(0, 8);
  return { id, bytes };
}

/**
 * Encrypts values of telemetry before they are stored, with AES-256-GCM. A value names its key, so that keys can be rotated, and belongs to
 * an organization and a kind of value: it cannot be read as another organization's. docs/adr/0248-redaction-and-encryption.md
 */
import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomBytes } from "node:crypto";
import type { ContentKey } from "./content-cipher.ts";

const algorithm = "aes-256-gcm";
const keyBytes = 32;
const saltBytes = 16;
const counterBytes = 8;
const headBytes = saltBytes + counterBytes;
const nonceBytes = 12;
const tagBytes = 16;

/** How sealed values begin. */
export const sealedPrefix = "enc:v2:";
/** What precedes the bytes as base64; these are a head and a tag at least. */
const sealed = /^enc:v2:(?<id>[0-9a-f]{8}):(?<kind>[a-z-]):(?=[\w-]{54})/;

/** Of text that has no kind. */
export const plainKind = "-";

/** To whom a value belongs, and what it is. */
export interface SealedAt {
  readonly organizationId: string;
  /** A lower-case letter, or `plainKind`. */
  readonly kind: string;
}

/** Encrypts one value, piece by piece. */
export interface Sealing {
  add(piece: Uint8Array): void;
  /** @returns the value to store */
  end(): string;
}

export interface TelemetryCipher {
  /** Undefined if the server has no key: values are stored as they are. */
  readonly seal: ((at: SealedAt) => Sealing) | undefined;
  /**
   * What was sealed, after the letter of its kind if it has one; any other text as it is. A value that cannot be decrypted becomes a text
   * that says why, so that one value never fails a query.
   */
  open(stored: string, organizationId: string): string;
}

/** @param keys the first encrypts, all decrypt; none: values are stored as they are */
export function createTelemetryCipher(keys: readonly ContentKey[]): TelemetryCipher {
  const [current] = keys;
  const byId = new Map(keys.map((key) => [key.id, derivedKeys(key)]));
  return {
    seal: current && createSeal(current),
    open(stored, organizationId) {
      const found = sealed.exec(stored);
      const { id, kind } = found?.groups ?? {};
      if (id === undefined || kind === undefined) return stored;
      const letter = kind === plainKind ? "" : kind;
      const keysOf = byId.get(id);
      if (keysOf === undefined) return toText(letter, `encrypted with the key ${id}, which the server does not have`);
      try {
        return (
          letter + opened(Buffer.from(stored.slice(found![0].length), "base64url"), keysOf, { organizationId, kind })
        );
      } catch {
        return toText(letter, `cannot be decrypted with the key ${id}: changed, or of another organization`);
      }
    },
  };
}

/** Whether a text has what may be sealed values. */
export function hasSealed(text: string): boolean {
  return text.includes(sealedPrefix);
}

/** Whether it begins like one. */
export function mayBeSealed(text: string): boolean {
  return text.startsWith(sealedPrefix);
}

/** What stands for a value that is not readable: of kind `s`, text. */
function toText(letter: string, reason: string): string {
  return `${letter && "s"}[${reason}]`;
}

/**
 * Random nonces would allow a key 2^32 values (NIST SP 800-38D), which telemetry reaches in days. So each process derives a key from its own
 * salt, and counts.
 */
function createSeal(key: ContentKey): NonNullable<TelemetryCipher["seal"]> {
  const salt = randomBytes(saltBytes);
  const derived = deriveKey(key, salt);
  let count = 0n;
  return (at) => {
    const head = Buffer.alloc(headBytes);
    salt.copy(head);
    head.writeBigUInt64BE(count++, saltBytes);
    const cipher = createCipheriv(algorithm, derived, nonceOf(head)).setAAD(toBytes(at));
    // Base64 has four characters for three bytes, as the head has eight times.
    let text = `${sealedPrefix}${key.id}:${at.kind}:${head.toString("base64url")}`;
    let rest: Buffer = Buffer.alloc(0);
    return {
      add(piece) {
        const bytes = cipher.update(piece);
        rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
        const whole = rest.length - (rest.length % 3);
        text += rest.toString("base64url", 0, whole);
        rest = rest.subarray(whole);
      },
      end: () => text + Buffer.concat([rest, cipher.final(), cipher.getAuthTag()]).toString("base64url"),
    };
  };
}

function opened(bytes: Buffer, keyOf: (salt: Buffer) => KeyObject, at: SealedAt): string {
  const head = bytes.subarray(0, headBytes);
  const decipher = createDecipheriv(algorithm, keyOf(head.subarray(0, saltBytes)), nonceOf(head), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(toBytes(at)).setAuthTag(bytes.subarray(-tagBytes));
  const text = decipher.update(bytes.subarray(headBytes, -tagBytes));
  decipher.final();
  return text.toString("utf8");
}

/** Few: one for each process that has sealed. Forged values may have any salt. */
const mostDerived = 1024;

function derivedKeys(key: ContentKey): (salt: Buffer) => KeyObject {
  const known = new Map<string, KeyObject>();
  return (salt) => {
    const name = salt.toString("latin1");
    let derived = known.get(name);
    if (derived === undefined) {
      if (known.size >= mostDerived) known.clear();
      known.set(name, (derived = deriveKey(key, salt)));
    }
    return derived;
  };
}

/** Ciphers take a key object in a fraction of the time that bytes take. */
function deriveKey({ bytes }: ContentKey, salt: Buffer): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync("sha256", bytes, salt, "sounding telemetry content", keyBytes)));
}

function nonceOf(head: Buffer): Buffer {
  const nonce = Buffer.alloc(nonceBytes);
  head.copy(nonce, nonceBytes - counterBytes, saltBytes);
  return nonce;
}

function toBytes({ kind, organizationId }: SealedAt): Buffer {
  return Buffer.from(`${kind}${organizationId}`);
}

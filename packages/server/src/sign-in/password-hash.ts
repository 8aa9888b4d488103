/**
 * Hashes passwords with scrypt, in threads of Node. Half of what it yields is stored; the other half is a key that nobody has
 * without the password, and encrypts the secret of one-time codes.
 * https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html#scrypt
 */
import { randomBytes, scrypt } from "node:crypto";
import { equalHashes } from "../tenancy/secret.ts";

export interface PasswordCost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** 32 MiB and about a tenth of a second. */
export const defaultCost: PasswordCost = { N: 2 ** 15, r: 8, p: 3 };
const saltBytes = 16;
const halfBytes = 32;

export interface HashedPassword {
  readonly stored: string;
  /** Encrypts the secrets of the account. */
  readonly key: string;
}

interface StoredHash extends PasswordCost {
  readonly salt: string;
  readonly hash: string;
}

export class PasswordHash {
  readonly #cost: PasswordCost;
  /** With it, an account that does not exist takes as long as one that does. */
  readonly #nobody: StoredHash;

  constructor(cost: PasswordCost = defaultCost) {
    this.#cost = cost;
    const [salt, hash] = [saltBytes, halfBytes].map((bytes) => randomBytes(bytes).toString("base64url"));
    this.#nobody = { ...cost, salt: salt!, hash: hash! };
  }

  async create(password: string): Promise<HashedPassword> {
    const { N, p, r } = this.#cost;
    const salt = randomBytes(saltBytes).toString("base64url");
    const { hash, key } = await derive(password, { N, p, r, salt });
    return { stored: ["scrypt", N, r, p, salt, hash].join("$"), key };
  }

  /**
   * @param stored undefined: there is no such account, which takes as long
   * @returns the key of the account, or undefined if the password is wrong
   */
  async check(password: string, stored: string | undefined): Promise<string | undefined> {
    const expected = stored === undefined ? this.#nobody : parse(stored);
    const { hash, key } = await derive(password, expected);
    return equalHashes(hash, expected.hash) && stored !== undefined ? key : undefined;
  }
}

function parse(stored: string): StoredHash {
  const [, N, r, p, salt = "", hash = ""] = stored.split("$");
  return { N: Number(N), r: Number(r), p: Number(p), salt, hash };
}

function derive(
  password: string,
  { N, p, r, salt }: Omit<StoredHash, "hash">,
): Promise<{ readonly hash: string; readonly key: string }> {
  return new Promise((resolve, reject) => {
    // What scrypt needs, and as much for safety.
    const maxmem = 2 * 128 * N * r;
    // The same characters can be typed in several ways. https://pages.nist.gov/800-63-4/sp800-63b.html#passwordver
    scrypt(password.normalize("NFKC"), salt, 2 * halfBytes, { N, r, p, maxmem }, (error, derived) => {
      if (error !== null) return reject(error);
      const halves = [derived.subarray(0, halfBytes), derived.subarray(halfBytes)] as const;
      resolve({ hash: halves[0].toString("base64url"), key: halves[1].toString("base64url") });
    });
  });
}

/** An authenticator of passkeys together with its browser, which can be told to answer wrongly. */
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from "node:crypto";
import { isoCBOR } from "@simplewebauthn/server/helpers";

export interface CreationOptions {
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
  readonly challenge: string;
}
export interface RequestOptions {
  readonly rpId: string;
  readonly challenge: string;
}

/** What an answer says, where it is not what it should be. */
export interface Deviation {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly type?: string;
  readonly crossOrigin?: boolean;
  /** User present, user verified. */
  readonly flags?: number;
  readonly counter?: number;
  readonly userHandle?: string;
  readonly credentialId?: string;
  readonly attestation?: Map<string, unknown>;
  readonly format?: string;
}

const present = 0b1;
const verified = 0b100;
const hasCredential = 0b100_0000;

export class TestAuthenticator {
  readonly credentialId = randomBytes(16).toString("base64url");
  readonly #origin: string;
  readonly #key: KeyObject;
  readonly #cose: Uint8Array;
  #userHandle = "";
  /** Undefined: it does not count. */
  counter: number | undefined;

  constructor(origin: string, { counts = true } = {}) {
    this.#origin = origin;
    this.counter = counts ? 0 : undefined;
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const { x, y } = publicKey.export({ format: "jwk" });
    this.#key = privateKey;
    this.#cose = encode([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, bytesOf(x!)],
      [-3, bytesOf(y!)],
    ]);
  }

  create({ challenge, rp, user }: CreationOptions, wrong: Deviation = {}) {
    this.#userHandle = user.id;
    const id = wrong.credentialId ?? this.credentialId;
    const authData = Buffer.concat([
      this.#head(rp.id, hasCredential, wrong),
      Buffer.alloc(16),
      Buffer.from([0, bytesOf(id).length]),
      bytesOf(id),
      this.#cose,
    ]);
    const attestationObject = encode([
      ["fmt", wrong.format ?? "none"],
      ["attStmt", wrong.attestation ?? new Map()],
      ["authData", new Uint8Array(authData)],
    ]);
    return this.#credential(id, {
      clientDataJSON: this.#clientData("webauthn.create", challenge, wrong),
      attestationObject: Buffer.from(attestationObject).toString("base64url"),
      transports: ["internal"],
    });
  }

  get({ challenge, rpId }: RequestOptions, wrong: Deviation = {}) {
    const authenticatorData = this.#head(rpId, 0, wrong);
    const clientDataJSON = this.#clientData("webauthn.get", challenge, wrong);
    const hash = createHash("sha256").update(bytesOf(clientDataJSON)).digest();
    return this.#credential(wrong.credentialId ?? this.credentialId, {
      clientDataJSON,
      authenticatorData: authenticatorData.toString("base64url"),
      signature: sign("sha256", Buffer.concat([authenticatorData, hash]), this.#key).toString("base64url"),
      userHandle: wrong.userHandle ?? this.#userHandle,
    });
  }

  #credential<Response>(id: string, response: Response) {
    return { id, rawId: id, type: "public-key", authenticatorAttachment: "platform", response };
  }

  #clientData(type: string, challenge: string, wrong: Deviation): string {
    const data = {
      type: wrong.type ?? type,
      challenge: wrong.challenge ?? challenge,
      origin: wrong.origin ?? this.#origin,
      crossOrigin: wrong.crossOrigin ?? false,
    };
    return Buffer.from(JSON.stringify(data)).toString("base64url");
  }

  #head(rpId: string, more: number, wrong: Deviation): Buffer {
    if (this.counter !== undefined) this.counter += 1;
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(wrong.counter ?? this.counter ?? 0);
    const flags = (wrong.flags ?? present | verified) | more;
    return Buffer.concat([
      createHash("sha256")
        .update(wrong.rpId ?? rpId)
        .digest(),
      Buffer.from([flags]),
      counter,
    ]);
  }
}

function bytesOf(base64url: string): Uint8Array {
  return new Uint8Array(Buffer.from(base64url, "base64url"));
}

function encode(entries: readonly (readonly [string | number, unknown])[]): Uint8Array {
  return isoCBOR.encode(new Map(entries) as Parameters<typeof isoCBOR.encode>[0]);
}

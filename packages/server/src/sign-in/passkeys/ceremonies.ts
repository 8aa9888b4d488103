/**
 * Checks what authenticators answer (Web Authentication, sections 7.1 and 7.2), with a library for its formats and signatures.
 * docs/adr/0246-local-accounts.md
 */
import type { NewPasskey, PasskeySignIn } from "../../api/passkeys.ts";
import { AppError, type ErrorCode } from "../../errors.ts";
import { parseObject } from "../../json-object.ts";
import type { RelyingParty } from "./relying-party.ts";

/** Ed25519, P-256 with SHA-256, and RSA with SHA-256, which some TPMs need (COSE). */
export const algorithms: readonly number[] = [-8, -7, -257];
/** Of an RSA key of 4096 bits, with room. */
const longestPublicKey = 1024;

export interface CreatedPasskey {
  readonly credentialId: string;
  readonly publicKey: string;
  readonly counter: number;
  readonly backedUp: boolean;
}

interface KnownPublicKey {
  readonly credentialId: string;
  readonly publicKey: string;
}

export interface Signature {
  readonly counter: number;
  readonly backedUp: boolean;
}

type ClientDataType = "webauthn.create" | "webauthn.get";
const codes = { "webauthn.create": "invalid_request", "webauthn.get": "invalid_credentials" } as const;

/**
 * The challenge that the browser says it has answered, once the rest of what it says is right.
 * @throws AppError invalid_request or invalid_credentials
 */
export function readChallenge(clientDataJSON: string, type: ClientDataType, { origin }: RelyingParty): string {
  const data = parseObject(Buffer.from(clientDataJSON, "base64url").toString("utf8"));
  if (data?.["type"] !== type || typeof data["challenge"] !== "string")
    throw refused(codes[type], "The answer of the browser is not one of Web Authentication.");
  // A page of another site that shows this one in a frame.
  if (data["crossOrigin"] === true) throw refused(codes[type], "Passkeys cannot be used in a frame of another site.");
  if (data["origin"] !== origin)
    throw refused(
      codes[type],
      `The passkey was used at ${JSON.stringify(data["origin"] ?? null).slice(0, 200)}, and this server is at ${origin}. Set server.public_url to the address that people open.`,
    );
  return data["challenge"];
}

/** @throws AppError invalid_request */
export async function checkCreation(
  credential: NewPasskey["credential"],
  { challenge, rp }: { readonly challenge: string; readonly rp: RelyingParty },
): Promise<CreatedPasskey> {
  const { verifyRegistrationResponse } = await import("@simplewebauthn/server");
  const { decodeAttestationObject } = await import("@simplewebauthn/server/helpers");
  const info = await orRefuse("invalid_request", async () => {
    const attestation = decodeAttestationObject(Buffer.from(credential.response.attestationObject, "base64url"));
    const format = attestation.get("fmt");
    // Nobody asked for certificates, which the library would parse, and whose revocation lists it would download.
    const isBare = format === "none" || (format === "packed" && attestation.get("attStmt").get("x5c") === undefined);
    if (!isBare) return undefined;
    const { registrationInfo } = await verifyRegistrationResponse({
      response: { ...credential, response: bareResponse(credential), clientExtensionResults: {} },
      expectedChallenge: challenge,
      expectedOrigin: rp.origin,
      expectedRPID: rp.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: [...algorithms],
    });
    return registrationInfo;
  });
  const isRight = info !== undefined && info.credential.id === credential.id;
  if (!isRight || info.credential.publicKey.length > longestPublicKey) throw invalid("invalid_request");
  return {
    credentialId: info.credential.id,
    publicKey: Buffer.from(info.credential.publicKey).toString("base64url"),
    counter: info.credential.counter,
    backedUp: info.credentialBackedUp,
  };
}

/** Transports are hints for browsers, not a part of what is checked. */
function bareResponse({ response: { attestationObject, clientDataJSON } }: NewPasskey["credential"]) {
  return { attestationObject, clientDataJSON };
}

/** @throws AppError invalid_credentials, also if the counter went back */
export async function checkSignature(
  credential: PasskeySignIn["credential"],
  { challenge, key, rp }: { readonly challenge: string; readonly key: KnownPublicKey; readonly rp: RelyingParty },
): Promise<Signature> {
  const { verifyAuthenticationResponse } = await import("@simplewebauthn/server");
  const { authenticationInfo, verified } = await orRefuse("invalid_credentials", () =>
    verifyAuthenticationResponse({
      response: { ...credential, clientExtensionResults: {} },
      expectedChallenge: challenge,
      expectedOrigin: rp.origin,
      expectedRPID: rp.id,
      requireUserVerification: true,
      // The caller compares the counters, in a transaction.
      credential: { id: key.credentialId, publicKey: Buffer.from(key.publicKey, "base64url"), counter: 0 },
    }),
  );
  if (!verified) throw invalid("invalid_credentials");
  return { counter: authenticationInfo.newCounter, backedUp: authenticationInfo.credentialBackedUp };
}

/** Whatever the library says about input, it is the same to the caller. */
async function orRefuse<Result>(code: ErrorCode, check: () => Promise<Result>): Promise<Result> {
  try {
    return await check();
  } catch (error) {
    throw invalid(code, error);
  }
}

export function invalid(code: ErrorCode, cause?: unknown): AppError {
  const message =
    code === "invalid_credentials"
      ? "The passkey is unknown here, or its answer is wrong or too late. Try again, or sign in with the password."
      : "The answer of the browser or the authenticator is wrong or too late. Try again.";
  return refused(code, message, cause);
}

function refused(code: ErrorCode, message: string, cause?: unknown): AppError {
  return new AppError(code, message, { param: "credential", cause });
}

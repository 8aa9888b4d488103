/** Asks the browser for passkeys, with its own conversions from and to JSON. https://www.w3.org/TR/webauthn-3/ */
import { requestJson } from "../api/request.ts";
import { signIn } from "./session.ts";

/** Creates a passkey for the person who is signed in. @throws ApiError, or Error for people to read */
export async function createPasskey(currentPassword: string): Promise<object> {
  requireBrowser();
  const { public_key: options } = await requestJson<{
    readonly public_key: PublicKeyCredentialCreationOptionsJSON;
  }>("authentication/account/passkey_options", { json: { current_password: currentPassword } });
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  return await ask(options.rp.id, () => navigator.credentials.create({ publicKey }));
}

/** @throws ApiError, or Error for people to read */
export async function signInWithPasskey(): Promise<void> {
  requireBrowser();
  const { public_key: options } = await requestJson<{
    readonly public_key: PublicKeyCredentialRequestOptionsJSON;
  }>("authentication/passkey_challenges", { method: "POST" });
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const credential = await ask(options.rpId, () => navigator.credentials.get({ publicKey }));
  await signIn({ credential }, "authentication/passkey_sessions");
}

/** Browsers have them on pages with HTTPS and on `localhost` only. */
function requireBrowser(): void {
  const isCurrent = "PublicKeyCredential" in window && "parseCreationOptionsFromJSON" in PublicKeyCredential;
  if (!isCurrent) throw new Error("Passkeys need a current browser, and a page with HTTPS or at localhost.");
}

async function ask(host: string | undefined, run: () => Promise<Credential | null>): Promise<object> {
  let credential: Credential | null;
  try {
    credential = await run();
  } catch (error) {
    throw new Error(problemOf((error as Error).name, host) ?? (error as Error).message, { cause: error });
  }
  return (credential as PublicKeyCredential).toJSON();
}

function problemOf(name: string, host: string | undefined): string | undefined {
  if (name === "NotAllowedError") return "No passkey was used: you cancelled, it took too long, or there is none here.";
  if (name === "InvalidStateError") return "There is a passkey for your account on this device already.";
  return name === "SecurityError" ? `Passkeys of this server work only at ${host}.` : undefined;
}

/**
 * One sign-in at an identity provider, between the click and the provider's answer. All its secrets are derived from one that
 * is in a short-lived cookie of the browser, so that the server keeps nothing of sign-ins that nobody finishes, and an answer
 * is accepted only in the browser that asked.
 * https://www.rfc-editor.org/rfc/rfc9700#section-2.1
 */
import { createHmac, randomBytes } from "node:crypto";

export interface SignInFlow {
  /** The provider's name. */
  readonly provider: string;
  /** UNIX seconds. */
  readonly startedAt: number;
  /** A path below the console's, to which the browser goes after the sign-in. */
  readonly returnTo: string;
  /** 256 random bits, base64url. */
  readonly secret: string;
}

/** What the secrets of a flow are for. */
export interface FlowSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

export const flowLifetimeSeconds = 600;
const longestReturnTo = 300;

export function startFlow(provider: string, returnTo: string, nowSeconds: number): SignInFlow {
  return { provider, startedAt: nowSeconds, returnTo, secret: randomBytes(32).toString("base64url") };
}

export function secretsOf(flow: SignInFlow): FlowSecrets {
  const derive = (purpose: string): string =>
    createHmac("sha256", flow.secret)
      .update(JSON.stringify([purpose, flow.provider, flow.startedAt, flow.returnTo]))
      .digest("base64url");
  return { state: derive("state"), nonce: derive("nonce"), codeVerifier: derive("code_verifier") };
}

/** The value of the cookie. */
export function writeFlow({ provider, returnTo, secret, startedAt }: SignInFlow): string {
  return [provider, startedAt, secret, encodeURIComponent(returnTo)].join(".");
}

/** @returns undefined if the cookie is not one of this provider, or too old */
export function readFlow(cookie: string | undefined, provider: string, nowSeconds: number): SignInFlow | undefined {
  const match = /^([a-z0-9_-]+)\.(\d{1,12})\.([A-Za-z0-9_-]{43})\.([^.]*)$/.exec(cookie ?? "");
  if (match === null) return undefined;
  const [, name, startedAt, secret, returnTo] = match as unknown as [string, string, string, string, string];
  const age = nowSeconds - Number(startedAt);
  if (name !== provider || age < 0 || age > flowLifetimeSeconds) return undefined;
  return { provider, startedAt: Number(startedAt), secret, returnTo: readReturnTo(decode(returnTo)) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** The path below the console's, if it is one that can lead to no other site; otherwise the console's own. */
export function readReturnTo(text: string | null): string {
  if (text === null || text.length > longestReturnTo) return "";
  return /^[a-z][A-Za-z0-9_-]*(?:\/[A-Za-z0-9_-]+)*(?:\?[A-Za-z0-9_=&%-]*)?$/.test(text) ? text : "";
}

/**
 * Signs this terminal in as a person: shows a code, waits until the person approves it in the console, and refreshes the tokens later.
 * https://www.rfc-editor.org/rfc/rfc8628
 */
import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { CliError } from "../cli-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { printable } from "../output.ts";
import type { ProfileSession } from "./profile-file.ts";

export interface DeviceCodes {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
  readonly expires_in: number;
  readonly interval: number;
}

/** The tokens of a terminal. */
export interface TerminalTokens {
  readonly accessToken: string;
  readonly session: ProfileSession;
}

const requestTimeoutMs = 30_000;
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

/** @throws CliError */
export async function beginDeviceLogin(url: string, signal: AbortSignal): Promise<DeviceCodes> {
  const { body, status } = await post(`${url}/authentication/device_authorization`, signal, {
    client_id: `sounding on ${hostname()}`,
  });
  if (status === 200) return body as unknown as DeviceCodes;
  const problem = status === 404 ? "the server does not sign terminals in; use a key" : textOf(body, status);
  throw new CliError(problem, status === 429 ? exitCodes.tryLater : exitCodes.failed);
}

/** Waits until the person has decided. @throws CliError */
export async function waitForTokens(url: string, codes: DeviceCodes, signal: AbortSignal): Promise<TerminalTokens> {
  const endMs = Date.now() + codes.expires_in * 1000;
  let intervalMs = codes.interval * 1000;
  while (Date.now() < endMs) {
    await delay(intervalMs, undefined, { signal });
    const { body, status } = await requestTokens(url, signal, {
      grant_type: deviceGrant,
      device_code: codes.device_code,
    });
    if (status === 200) return toTokens(body);
    const { error } = body;
    if (error === "slow_down") intervalMs += 5000;
    else if (error !== "authorization_pending") throw new CliError(textOf(body, status), exitCodes.denied);
  }
  throw new CliError("nobody approved the terminal in time; run the command again", exitCodes.timeout);
}

/** @returns undefined if the session has ended. @throws CliError if the server cannot be asked */
export async function refreshTokens(
  url: string,
  { refreshToken }: ProfileSession,
  signal: AbortSignal,
): Promise<TerminalTokens | undefined> {
  const { body, status } = await requestTokens(url, signal, {
    grant_type: "refresh_token",
    refresh_token: refreshToken,
  });
  if (status === 200) return toTokens(body);
  if (body.error === "invalid_grant") return undefined;
  throw new CliError(textOf(body, status), exitCodes.failed);
}

/** Ends the session at the server. @throws CliError */
export async function revokeSession(url: string, { refreshToken }: ProfileSession, signal: AbortSignal): Promise<void> {
  const { body, status } = await post(`${url}/authentication/revoke_token`, signal, { token: refreshToken });
  if (status !== 200) throw new CliError(textOf(body, status), exitCodes.failed);
}

interface TokenBody {
  readonly access_token?: string;
  readonly refresh_token?: string;
  readonly expires_in?: number;
  /** Text of OAuth, or an object of the server's own errors. */
  readonly error?: unknown;
  readonly error_description?: string;
}

function requestTokens(url: string, signal: AbortSignal, form: Readonly<Record<string, string>>) {
  return post(`${url}/authentication/token`, signal, form);
}

function toTokens({ access_token: accessToken, expires_in: expiresIn = 0, refresh_token: refreshToken }: TokenBody) {
  if (accessToken === undefined || refreshToken === undefined)
    throw new CliError("the server answered without tokens", exitCodes.failed);
  return { accessToken, session: { refreshToken, expiresAt: Math.floor(Date.now() / 1000) + expiresIn } };
}

async function post(
  url: string,
  signal: AbortSignal,
  form: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly body: TokenBody }> {
  let response: Response;
  try {
    response = await fetch(url, {
      method: "POST",
      body: new URLSearchParams(form),
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)]),
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new CliError(`${new URL(url).origin} could not be reached`, exitCodes.unreachable, { cause: error });
  }
  const body = (await response.json().catch(() => null)) as TokenBody | null;
  return { status: response.status, body: body ?? {} };
}

function textOf({ error, error_description: description }: TokenBody, status: number): string {
  const message = typeof error === "object" && error !== null && "message" in error ? error.message : description;
  return printable(typeof message === "string" ? message : `the server answered with status ${status}`);
}

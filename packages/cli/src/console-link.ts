/** Creates a link to a server's web console that signs in once. */
import { exitCodes } from "./exit-codes.ts";
import { CliError } from "./cli-error.ts";
import { RemoteError, sendRequest } from "./remote-request.ts";

export interface ConsoleKeys {
  readonly url: string;
  readonly key: string;
  /** A key for the admin API, which the console then uses too. */
  readonly operatorKey: string | undefined;
}

export interface ConsoleLink {
  readonly url: string;
  /** UNIX seconds. */
  readonly expires_at: number;
  /** Why the operator key is not part of it. */
  readonly operatorKeyProblem?: string;
}

/** @throws CliError or RemoteError, if the server cannot be reached, refuses the key, or has no web console */
export async function createConsoleLink(keys: ConsoleKeys, signal: AbortSignal): Promise<ConsoleLink> {
  const operatorKey = keys.operatorKey === keys.key ? undefined : keys.operatorKey;
  try {
    return await requestLink({ ...keys, operatorKey }, signal);
  } catch (error) {
    if (operatorKey === undefined || !(error instanceof RemoteError)) throw error;
    // The API key may still be valid.
    const link = await requestLink({ ...keys, operatorKey: undefined }, signal);
    return { ...link, operatorKeyProblem: error.message };
  }
}

async function requestLink({ url, key, operatorKey }: ConsoleKeys, signal: AbortSignal): Promise<ConsoleLink> {
  const server = {
    url,
    key,
    signal,
    ifUnreachable: "Is the server running? Start one with `sounding serve`, or set --url.",
    ifDenied: "Run `sounding login` with a key of this server.",
  };
  const body = operatorKey === undefined ? {} : { operator_key: operatorKey };
  const answer = await sendRequest(server, "POST", "/authentication/sign_in_codes", body);
  const { code, expires_at } = answer as { readonly code: string; readonly expires_at: number };
  const page = await fetch(`${url}/console/`, { method: "HEAD", signal });
  if (!page.ok) throw new CliError(`${url} has no web console (status ${page.status})`, exitCodes.notFound);
  // The fragment: browsers send it to no server and no proxy.
  return { url: `${url}/console/sign-in#code=${code}`, expires_at };
}

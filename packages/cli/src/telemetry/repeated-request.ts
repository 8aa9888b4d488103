/** Sends a request of a long transfer: again after errors that pass, and as long as the server asks to wait. */
import { setTimeout as delay } from "node:timers/promises";
import { CliError } from "../cli-error.ts";
import { exitCodes } from "../exit-codes.ts";

export interface TransferServer {
  readonly url: string;
  readonly key: string;
  readonly signal: AbortSignal;
}

interface TransferRequest {
  readonly path: string;
  readonly body: string;
  readonly project?: string;
}

const attempts = 8;
const timeoutMs = 60_000;
const longestPauseMs = 30_000;

/** Resolves to a response with status 200. @throws CliError with the server's reason */
export async function postRepeatedly(server: TransferServer, request: TransferRequest): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const { pauseMs = 500 * 2 ** attempt, ...outcome } = await post(server, request);
    if (outcome.response !== undefined) return outcome.response;
    server.signal.throwIfAborted();
    if (!outcome.isPassing || attempt === attempts) throw outcome.error;
    await delay(Math.min(longestPauseMs, pauseMs), undefined, { signal: server.signal });
  }
}

interface Failure {
  readonly response?: undefined;
  readonly error: CliError;
  /** Whether the same request may succeed later. */
  readonly isPassing: boolean;
  /** What the server asks for. */
  readonly pauseMs?: number;
}

async function post(
  { key, signal, url }: TransferServer,
  { body, path, project }: TransferRequest,
): Promise<Failure | { readonly response: Response; readonly pauseMs?: undefined }> {
  let response: Response;
  try {
    response = await fetch(`${url}${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        ...(project === undefined ? {} : { "x-project": project }),
      },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    if (response.ok) return { response };
  } catch (cause) {
    const message = `${url} could not be reached, or did not respond within ${timeoutMs / 1000} seconds. Run the command again to continue.`;
    return { error: new CliError(message, exitCodes.unreachable, { cause }), isPassing: true };
  }
  const isDenied = response.status === 401 || response.status === 403;
  const reason = `${await reasonOf(response)}${isDenied ? " Set a key with the needed permission in SOUNDING_API_KEY." : ""}`;
  const retryAfter = Number(response.headers.get("retry-after") ?? Number.NaN);
  return {
    error: new CliError(reason, isDenied ? exitCodes.denied : exitCodes.failed),
    isPassing: response.status === 429 || response.status >= 500,
    ...(Number.isFinite(retryAfter) ? { pauseMs: retryAfter * 1000 } : {}),
  };
}

async function reasonOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const { error, message } = JSON.parse(text) as { error?: { message?: string }; message?: string };
    return error?.message ?? message ?? text;
  } catch {
    return `${response.url} responded with status ${response.status}`;
  }
}

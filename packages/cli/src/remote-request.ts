/** Sends a request to an endpoint of a server for which the client library has no method. */
import { CliError } from "./cli-error.ts";
import { exitCodes } from "./exit-codes.ts";

const defaultTimeoutMs = 30_000;

export interface RemoteServer {
  readonly url: string;
  readonly key: string;
  readonly signal: AbortSignal;
  /** Default: 30 seconds. */
  readonly timeoutMs?: number;
  /** What to do if the server cannot be reached. */
  readonly ifUnreachable: string;
  /** What to do if the server refuses the key. */
  readonly ifDenied: string;
}

/** @throws RemoteError for an error that the server reports, CliError otherwise */
export async function sendRequest(
  server: RemoteServer,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const { url, key, timeoutMs = defaultTimeoutMs } = server;
  const signal = AbortSignal.any([server.signal, AbortSignal.timeout(timeoutMs)]);
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  try {
    const response = await fetch(`${url}${path}`, { method, headers, signal, ...sent });
    return await readAnswer(response, server);
  } catch (error) {
    if (error instanceof RemoteError || server.signal.aborted) throw error;
    if (error instanceof Error && error.name === "TimeoutError") {
      throw new CliError(`${url} did not respond within ${timeoutMs / 1000} seconds`, exitCodes.timeout);
    }
    throw new CliError(`${url} could not be reached. ${server.ifUnreachable}`, exitCodes.unreachable, { cause: error });
  }
}

/** The server's own error; `status` decides the exit code. */
export class RemoteError extends Error {
  override readonly name = "RemoteError";
  readonly status: number;
  /** The field that is wrong, if the server names one. */
  readonly param: string | null;

  constructor(status: number, message: string, param: string | null = null) {
    super(message);
    this.status = status;
    this.param = param;
  }
}

async function readAnswer(response: Response, { url, ifDenied }: RemoteServer): Promise<unknown> {
  const text = await response.text();
  let answer: { error?: { message?: string; param?: string | null } };
  try {
    answer = JSON.parse(text) as typeof answer;
  } catch {
    throw new RemoteError(
      response.status,
      `${url} responded with status ${response.status} and without JSON; is it Sounding?`,
    );
  }
  if (response.ok) return answer;
  const message = answer.error?.message ?? `${url} responded with status ${response.status}`;
  const isDenied = response.status === 401 || response.status === 403;
  throw new RemoteError(response.status, isDenied ? `${message} ${ifDenied}` : message, answer.error?.param);
}

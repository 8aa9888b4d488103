/** Sends telemetry to a server's OTLP endpoint, and retries if the server asks for it. */
import { setTimeout as wait } from "node:timers/promises";
import { CliError } from "../cli-error.ts";
import { exitCodes, type ExitCode } from "../exit-codes.ts";

export interface OtlpTarget {
  readonly url: string;
  readonly key: string;
  readonly signal: AbortSignal;
}

const maximumAttempts = 8;
const retryable = new Set([429, 502, 503, 504]);
const denied = new Set([401, 403]);

/** @param path such as `/v1/traces`. Throws CliError if the server refuses all or part of the data. */
export async function sendOtlp({ url, key, signal }: OtlpTarget, path: string, message: object): Promise<void> {
  const request = {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(message),
    signal,
  };
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(`${url}${path}`, request).catch((error: unknown) => {
      if (signal.aborted) throw error;
      const hint = "Is the server running? Start one with `sounding serve`, or set --url or SOUNDING_BASE_URL.";
      throw new CliError(`${url} could not be reached. ${hint}`, exitCodes.unreachable, { cause: error });
    });
    const text = await response.text();
    if (response.ok) return checkPartialSuccess(path, text);
    if (!retryable.has(response.status) || attempt === maximumAttempts) throw refusal(path, response.status, text);
    const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
    await wait(Number.isFinite(seconds) ? seconds * 1000 : 500 * attempt, undefined, { signal });
  }
}

function checkPartialSuccess(path: string, text: string): void {
  const { partialSuccess } = JSON.parse(text === "" ? "{}" : text) as { partialSuccess?: { errorMessage?: string } };
  const message = partialSuccess?.errorMessage;
  if (message !== undefined && message !== "") throw new CliError(`${path} accepted only part of the data: ${message}`);
}

function refusal(path: string, status: number, text: string): CliError {
  let message = text.slice(0, 300);
  try {
    const answer = JSON.parse(text) as { message?: string; error?: { message?: string } };
    message = answer.message ?? answer.error?.message ?? message;
  } catch {
    // Not JSON: use the text as it is.
  }
  return new CliError(`${path} responded with status ${status}: ${message}`, exitCodeFor(status));
}

function exitCodeFor(status: number): ExitCode {
  if (denied.has(status)) return exitCodes.denied;
  return retryable.has(status) ? exitCodes.tryLater : exitCodes.failed;
}

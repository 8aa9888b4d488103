/** Requests to an identity provider: without redirects, and bounded in time and size, since a provider is not trusted with either. */
import type { CustomFetchOptions } from "oauth4webapi";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import { networkFailure } from "../network/network-failure.ts";

export type ProviderFetch = (url: string, options?: ProviderRequest) => Promise<Response>;

type ProviderRequest = Partial<CustomFetchOptions<string, unknown>>;

export const providerResponseBytes = inputLimit({
  area: "Administration",
  bounds: "Response of an identity provider",
  value: 524_288,
  unit: "bytes",
  error: "identity_provider_unavailable",
});

/**
 * @param name the provider's, for messages
 * @param closing aborts requests when the server stops
 */
export function createProviderFetch(name: string, timeoutMs: number, closing: AbortSignal): ProviderFetch {
  return async (url, { body, headers = {}, method = "GET", signal } = {}) => {
    const signals = [closing, AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])];
    try {
      const response = await fetch(url, {
        method,
        headers: { ...headers, "user-agent": "sounding" },
        ...(body === undefined || body === null ? {} : { body: body as NonNullable<RequestInit["body"]> }),
        // A provider must not lead the server, and the secrets that it sends, elsewhere.
        redirect: "manual",
        signal: AbortSignal.any(signals),
      });
      return await readWhole(name, response);
    } catch (error) {
      if (error instanceof AppError || signal?.aborted === true) throw error;
      const isLate = error instanceof Error && error.name === "TimeoutError";
      const what = isLate ? `it did not respond within ${timeoutMs} ms` : networkFailure(error, url, undefined).what;
      throw unavailable(name, what, error);
    }
  };
}

async function readWhole(name: string, response: Response): Promise<Response> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.length;
    if (size > providerResponseBytes)
      throw unavailable(name, `its response has more than ${providerResponseBytes} bytes`);
    pieces.push(piece);
  }
  const { headers, status } = response;
  const hasBody = status !== 204 && status !== 205 && status !== 304;
  return new Response(hasBody ? Buffer.concat(pieces) : null, { status, headers });
}

/** @param reason for the log only: people who sign in learn only that it is unavailable */
export function unavailable(name: string, reason: string, cause?: unknown): AppError {
  return new AppError(
    "identity_provider_unavailable",
    `The identity provider ${JSON.stringify(name)} is unavailable at the moment. Retry later; sessions and API keys are not affected.`,
    { retryAfterMs: 5000, cause: new Error(reason, { cause }) },
  );
}

/** Why a provider is unavailable, for the log. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof AppError ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}

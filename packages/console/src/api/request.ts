/** Requests to Sounding's public API, with the session cookie of this page. */
import { consoleRoot } from "../state/address.ts";

/** Where the API is: the console is at `console/` below it. */
export const apiRoot = new URL("../", consoleRoot);

/** An error response of the server, or a failed connection (`status` 0). */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly code: string | undefined;
  /** The field that is wrong. */
  readonly param: string | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, details: ApiErrorDetails = {}) {
    super(message);
    this.status = details.status ?? 0;
    this.code = details.code;
    this.param = details.param;
    this.requestId = details.requestId;
    this.retryAfterMs = details.retryAfterMs;
  }
}

interface ApiErrorDetails {
  readonly status?: number;
  readonly code?: string | undefined;
  readonly param?: string | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
}

export interface RequestOptions {
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  readonly query?: Readonly<Record<string, string | number | readonly string[] | undefined>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: FormData | string | Blob | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

let handleUnauthorized: (error: ApiError) => void = () => {};

/** Sets what happens when the server does not accept the session (any longer). */
export function onUnauthorized(handle: (error: ApiError) => void): void {
  handleUnauthorized = handle;
}

/**
 * @param path relative to the API's root: `v1/models`
 * @throws ApiError unless the status is 2xx; an AbortError if the signal fires
 */
export async function request(path: string, options: RequestOptions = {}): Promise<Response> {
  const { method = options.json === undefined && options.body === undefined ? "GET" : "POST", signal } = options;
  let response: Response;
  try {
    response = await fetch(apiUrl(path, options.query), {
      method,
      headers: { ...(options.json === undefined ? {} : { "content-type": "application/json" }), ...options.headers },
      ...(options.json === undefined ? {} : { body: JSON.stringify(options.json) }),
      ...(options.body === undefined ? {} : { body: options.body }),
      signal: signal ?? null,
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new ApiError(`The server at ${apiRoot.host} cannot be reached. Check that it is running, then try again.`);
  }
  if (response.ok) return response;
  throw await failureOf(response);
}

/** The error of a response that is not 2xx; ends the session if the server does not accept it any longer. */
export async function failureOf(response: Response): Promise<ApiError> {
  const failure = await errorOf(response);
  if (failure.status === 401) handleUnauthorized(failure);
  return failure;
}

/** The JSON value of a response. */
export async function requestJson<Value>(path: string, options: RequestOptions = {}): Promise<Value> {
  const response = await request(path, options);
  return (await response.json()) as Value;
}

/** The URL of an API path. */
export function apiUrl(path: string, query: RequestOptions["query"] = {}): string {
  const url = new URL(path, apiRoot);
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const each of Array.isArray(value) ? value : [value]) url.searchParams.append(name, String(each));
  }
  return url.href;
}

/** Reads OpenAI's error object, or Prometheus' form of errors. */
async function errorOf(response: Response): Promise<ApiError> {
  const { status, headers } = response;
  const requestId = headers.get("x-request-id") ?? undefined;
  const wait = Number(headers.get("retry-after-ms") ?? Number.NaN);
  const retryAfterMs = Number.isFinite(wait) ? wait : undefined;
  const text = await response.text().catch(() => "");
  try {
    const { error, errorType } = JSON.parse(text) as {
      error?: string | { message?: string; code?: string | null; param?: string | null };
      errorType?: string;
    };
    if (typeof error === "string") return new ApiError(error, { status, code: errorType, requestId, retryAfterMs });
    const { message = "", code, param } = error ?? {};
    if (message !== "")
      return new ApiError(message, {
        status,
        code: code ?? undefined,
        param: param ?? undefined,
        requestId,
        retryAfterMs,
      });
  } catch {
    // A proxy's page, not one of ours.
  }
  return new ApiError(`The server answered with the status ${status}.`, { status, requestId, retryAfterMs });
}

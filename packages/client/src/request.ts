/** From an operation's parameters to the HTTP request; pure. */
import { userAgent } from "./environment.ts";
import { ConfigurationError } from "./errors.ts";
import type { FileInput } from "./file-input.ts";
import { createForm, type FormBody } from "./multipart.ts";
import { checkedMaxRetries, lowerCased, timeoutMs, type ClientSettings, type HeaderValues } from "./options.ts";
import { clientVersion } from "./version.ts";

/** Options of one call, beside its parameters. */
export interface CallOptions {
  /** Aborting it cancels the call, on the server too. */
  signal?: AbortSignal | undefined;
  /** Seconds that this call may take, with its retries and to the end of its stream. */
  timeout?: number | undefined;
  maxRetries?: number | undefined;
  /** Headers of this call. */
  headers?: HeaderValues | undefined;
}

/** Parameters of a call that control the client and are not sent unchanged. */
export interface CallParameters {
  /** Seconds that this call may take, with its retries and to the end of its stream. */
  timeout?: number | null | undefined;
  /** More headers for this call. */
  extra_headers?: HeaderValues | null | undefined;
  /** More parameters, for example of one engine; a parameter of the same name given beside it wins. */
  extra_body?: Readonly<Record<string, unknown>> | null | undefined;
}

/** What a resource wants sent. */
export interface ApiRequest {
  readonly method: "GET" | "POST";
  /** From the root, as in `/v1/models`. */
  readonly path: string;
  /** The parameters: the wire's, and those that steer the client. */
  readonly parameters?: CallParameters;
  /** The file of a form, whose fields the parameters are; `extra_body` then overrides what stands beside it. */
  readonly file?: FileInput;
  /** Milliseconds that the call may take where neither it nor the client says. */
  readonly defaultTimeoutMs?: number;
  /** The media type of the answer that is expected. */
  readonly accept: string;
  readonly options?: CallOptions | undefined;
}

/** A request ready to be sent, but for the key. */
export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | FormBody | undefined;
  /** The whole call's limit; undefined where only silence is limited. */
  readonly timeoutMs: number | undefined;
  readonly maxRetries: number;
  readonly signal: AbortSignal | undefined;
}

/** Seconds without an explicit `timeout`: of a whole answer, or of silence in a stream. */
export const defaultTimeoutMs = 600_000;

/** Lays headers over headers and the parameters over `extra_body`. Throws ConfigurationError. */
export function buildRequest(request: ApiRequest, settings: ClientSettings): HttpRequest {
  const { options = {}, parameters } = request;
  const { timeout, extra_headers } = parameters ?? {};
  const wholeMs = timeoutMs(options.timeout) ?? timeoutMs(timeout) ?? settings.timeoutMs ?? request.defaultTimeoutMs;
  const body = bodyOf(request, wholeMs);
  const headers: HeaderValues = {
    accept: request.accept,
    ...(body === undefined ? {} : { "content-type": typeof body === "string" ? "application/json" : body.contentType }),
    sdk_version: clientVersion,
    "user-agent": userAgent(),
    ...settings.headers,
    ...lowerCased(extra_headers ?? {}),
    ...lowerCased(options.headers ?? {}),
  };
  return {
    method: request.method,
    url: settings.baseUrl + request.path,
    headers: checkedHeaders(headers),
    body,
    timeoutMs: wholeMs,
    maxRetries: checkedMaxRetries(options.maxRetries) ?? settings.maxRetries,
    signal: options.signal,
  };
}

/** JSON, or a form, which tells the server the time limit too: its own is shorter than what a long recording takes. */
function bodyOf({ parameters, file }: ApiRequest, wholeMs: number | undefined): string | FormBody | undefined {
  if (parameters === undefined) return undefined;
  const { timeout: _, extra_headers: __, extra_body, ...wire } = parameters;
  if (file === undefined) return JSON.stringify({ ...extra_body, ...withoutUndefined(wire) });
  return createForm({ timeout: wholeMs === undefined ? undefined : wholeMs / 1000, ...wire, ...extra_body }, file);
}

/** The headers that have a value. Throws ConfigurationError, without the value, when one cannot be sent. */
function checkedHeaders(headers: HeaderValues): Record<string, string> {
  const present = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] != null);
  for (const [name, value] of present) {
    try {
      new Headers().set(name, value);
    } catch (error) {
      throw new ConfigurationError(`The header \`${name}\` has a name or a value that HTTP does not allow.`, error);
    }
  }
  return Object.fromEntries(present);
}

/** So that a parameter that is undefined does not hide its value in `extra_body`. */
function withoutUndefined(parameters: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined));
}

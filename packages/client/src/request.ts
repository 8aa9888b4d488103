/** Builds the HTTP request from an operation's parameters; pure. */
import { userAgent } from "./environment.ts";
import { ConfigurationError } from "./errors.ts";
import type { FileInput } from "./file-input.ts";
import { createForm, type FormBody } from "./multipart.ts";
import { checkedMaxRetries, lowerCased, timeoutMs, type ClientSettings, type HeaderValues } from "./options.ts";
import { clientVersion } from "./version.ts";

/** Options of one call, in addition to its parameters. */
export interface CallOptions {
  /** Aborting it cancels the call, also on the server. */
  signal?: AbortSignal | undefined;
  /** Maximum duration of this call in seconds, including retries and the whole stream. */
  timeout?: number | undefined;
  maxRetries?: number | undefined;
  /** Headers of this call. */
  headers?: HeaderValues | undefined;
}

/** Parameters of a call that control the client and are not sent unchanged. */
export interface CallParameters {
  /** Maximum duration of this call in seconds, including retries and the whole stream. */
  timeout?: number | null | undefined;
  /** Additional headers for this call. */
  extra_headers?: HeaderValues | null | undefined;
  /**
   * Additional parameters, for example of one engine; a parameter with the same name next to `extra_body` takes
   * precedence.
   */
  extra_body?: Readonly<Record<string, unknown>> | null | undefined;
}

/** The same members, each of which may also be undefined. */
export type OrUndefined<Members> = { [Name in keyof Members]: Members[Name] | undefined };

type HttpMethod = "GET" | "POST" | "PATCH" | "DELETE";

/** The request of a resource. */
export interface ApiRequest {
  readonly method: HttpMethod;
  /** From the root, as in `/v1/models`. */
  readonly path: string;
  /** The parameters: those that are sent, and those that control the client. */
  readonly parameters?: CallParameters;
  /** The file of a form whose fields are the parameters; `extra_body` then overrides the other fields. */
  readonly file?: FileInput;
  /** Default timeout in milliseconds, if neither the call nor the client sets one. */
  readonly defaultTimeoutMs?: number;
  /** The expected media type of the response. */
  readonly accept: string;
  readonly options?: CallOptions | undefined;
}

/** A request that is ready to be sent, except for the key. */
export interface HttpRequest {
  readonly method: HttpMethod;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | FormBody | undefined;
  /** Timeout of the whole call; undefined if only silence is limited. */
  readonly timeoutMs: number | undefined;
  readonly maxRetries: number;
  readonly signal: AbortSignal | undefined;
}

/** Default in seconds without an explicit `timeout`: for a batch response, or for silence in a stream. */
export const defaultTimeoutMs = 600_000;

/** Merges headers, and the parameters with `extra_body`. Throws ConfigurationError. */
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

/** JSON, or a form, which also sends the timeout to the server: its own default is too short for a long recording. */
function bodyOf({ parameters, file }: ApiRequest, wholeMs: number | undefined): string | FormBody | undefined {
  if (parameters === undefined) return undefined;
  const { timeout: _, extra_headers: __, extra_body, ...wire } = parameters;
  if (file === undefined) return JSON.stringify({ ...extra_body, ...withoutUndefined(wire) });
  return createForm({ timeout: wholeMs === undefined ? undefined : wholeMs / 1000, ...wire, ...extra_body }, file);
}

/** The headers that have a value. Throws ConfigurationError, without the value, if one cannot be sent. */
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

/** An undefined parameter must not hide its value in `extra_body`. */
function withoutUndefined(parameters: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined));
}

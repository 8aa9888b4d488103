/** Options of the clients, and the settings derived from them. */
import { environmentVariable, warnOfLegacyVariable } from "./environment.ts";
import { ConfigurationError } from "./errors.ts";

/** An API key, or a function that returns a fresh one; it is called before every attempt. */
export type ApiKey = string | (() => string | Promise<string>);

/** Headers by name; null removes a default header. */
export type HeaderValues = Readonly<Record<string, string | null | undefined>>;

export type Fetch = typeof globalThis.fetch;

/** Options of a client, each in camelCase or in snake_case. Setting one in both forms is an error. */
export interface ClientOptions {
  /** The API key. Default: the environment variable `SOUNDING_API_KEY`. */
  apiKey?: ApiKey | undefined;
  api_key?: ApiKey | undefined;
  /** The server's address. Default: `SOUNDING_BASE_URL`, or `http://127.0.0.1:4141`. A trailing `/v1` is ignored. */
  baseUrl?: string | URL | undefined;
  base_url?: string | URL | undefined;
  /** The organization's account name; the server refuses a key of another organization. */
  account?: string | undefined;
  /** The project that calls belong to. Default: the key's own, or `default`. */
  project?: string | undefined;
  /** Headers of every request. */
  defaultHeaders?: HeaderValues | undefined;
  default_headers?: HeaderValues | undefined;
  /**
   * Maximum duration of a call in seconds, including retries and the whole stream. Default: 600 for a batch response;
   * without it, a stream may last as long as it is never silent for 600 seconds.
   */
  timeout?: number | undefined;
  /** Maximum number of retries of a failed call, if a retry is safe. Default: 2. */
  maxRetries?: number | undefined;
  max_retries?: number | undefined;
  /** A replacement for `fetch`, for proxies, tests and unusual runtimes. */
  fetch?: Fetch | undefined;
}

/** Checked options, used for every request. */
export interface ClientSettings {
  readonly apiKey: ApiKey;
  /** Without a trailing slash and without `/v1`. */
  readonly baseUrl: string;
  /** Lower-case names. */
  readonly headers: HeaderValues;
  /** Undefined if the default applies. */
  readonly timeoutMs: number | undefined;
  readonly maxRetries: number;
  readonly fetch: Fetch;
}

/** Checks the options and applies the environment and the defaults. Throws ConfigurationError. */
export function clientSettings(options: ClientOptions): ClientSettings {
  warnOfLegacyVariable();
  const apiKey = oneOf(options, "apiKey", "api_key") ?? environmentVariable("SOUNDING_API_KEY");
  if (apiKey === undefined || apiKey === "") {
    throw new ConfigurationError("No API key: pass `apiKey`, or set the environment variable SOUNDING_API_KEY.");
  }
  const baseUrl = oneOf(options, "baseUrl", "base_url") ?? environmentVariable("SOUNDING_BASE_URL");
  return {
    apiKey: typeof apiKey === "string" ? checkedApiKey(apiKey) : apiKey,
    baseUrl: checkedBaseUrl(String(baseUrl ?? "http://127.0.0.1:4141")),
    headers: {
      ...(options.account === undefined ? {} : { "x-account": options.account }),
      ...(options.project === undefined ? {} : { "x-project": options.project }),
      ...lowerCased(oneOf(options, "defaultHeaders", "default_headers") ?? {}),
    },
    timeoutMs: timeoutMs(options.timeout),
    maxRetries: checkedMaxRetries(oneOf(options, "maxRetries", "max_retries")) ?? 2,
    fetch: options.fetch ?? globalThis.fetch,
  };
}

/** The key as it goes into the header. Throws ConfigurationError that does not show it. */
export function checkedApiKey(apiKey: unknown): string {
  const key = typeof apiKey === "string" ? apiKey.trim() : "";
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new ConfigurationError("The API key must consist of visible ASCII characters without spaces.");
  }
  return key;
}

/** Converts seconds to milliseconds. A number that looks like milliseconds is refused. */
export function timeoutMs(seconds: number | null | undefined): number | undefined {
  if (seconds == null) return undefined;
  if (typeof seconds !== "number" || !(seconds > 0) || seconds > 86_400) {
    throw new ConfigurationError(
      `\`timeout\` is ${String(seconds)}; it must be more than 0 and at most 86400 seconds (one day).`,
    );
  }
  return seconds * 1000;
}

export function checkedMaxRetries(count: number | undefined): number | undefined {
  if (count !== undefined && (!Number.isInteger(count) || count < 0)) {
    throw new ConfigurationError(`\`maxRetries\` is ${String(count)}; it must be an integer of at least 0.`);
  }
  return count;
}

export function lowerCased(headers: HeaderValues): HeaderValues {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function oneOf<A extends keyof ClientOptions, B extends keyof ClientOptions>(
  options: ClientOptions,
  camelCase: A,
  snakeCase: B,
): ClientOptions[A] | ClientOptions[B] {
  if (options[camelCase] !== undefined && options[snakeCase] !== undefined) {
    throw new ConfigurationError(`\`${camelCase}\` and \`${snakeCase}\` are the same option; pass only one of them.`);
  }
  return options[camelCase] ?? options[snakeCase];
}

function checkedBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    throw new ConfigurationError(`\`baseUrl\` is "${text}"; it must be an address such as https://sounding.example.`);
  }
  if (url.search !== "" || url.hash !== "" || url.username !== "") {
    throw new ConfigurationError("`baseUrl` must not contain a user name, a query or a fragment.");
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "").replace(/\/v1$/, "");
}

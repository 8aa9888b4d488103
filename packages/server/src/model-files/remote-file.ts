/**
 * Reads one file over HTTP: its metadata, and its bytes from any offset. Redirects are followed here, because the hub
 * sends size and checksum with the redirect itself, and its token must not be sent elsewhere.
 */
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import type { ProxySettings } from "../network/proxies.ts";
import { sendRequest } from "./transport.ts";

export interface RemoteFile {
  readonly url: string;
  /** Sent as a bearer token to the URL's own origin. */
  readonly token: string | undefined;
  readonly proxies?: ProxySettings | undefined;
}

export interface RemoteFileInfo {
  readonly sizeBytes: number | undefined;
  /** Lower-case hexadecimal. */
  readonly sha256: string | undefined;
  /** Changes when the file does; undefined if the server sends none. */
  readonly version: string | undefined;
}

export interface RemoteAnswer extends RemoteFileInfo {
  readonly response: Response;
}

const maximumRedirects = inputLimit({
  area: "Configuration and model files",
  bounds: "Redirects of a download",
  value: 10,
  error: { instead: "`sounding models pull` fails" },
});

function problemOf(status: number, url: string, withToken: boolean): AppError {
  const { host } = new URL(url);
  if (status === 404) return new AppError("not_found", `${host} does not have this file (${url}).`);
  if (status === 401 || status === 403) {
    const advice = withToken
      ? "the token may not read it, or its license has not been accepted yet"
      : "set HF_TOKEN to a token that may read it";
    return new AppError("permission_denied", `${host} denies access to the file (HTTP ${status}): ${advice}.`);
  }
  return new AppError(
    status === 429 || status >= 500 ? "overloaded" : "upstream_failed",
    `${host} responded with HTTP ${status} for ${url}.`,
  );
}

function wholeNumber(text: string | null | undefined): number | undefined {
  return text != null && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** The hub's ETag of a large file is its SHA-256. https://huggingface.co/docs/huggingface_hub/package_reference/file_download */
function factsOf({ headers, status }: Response): RemoteFileInfo {
  const etag = headers.get("x-linked-etag") ?? headers.get("etag") ?? undefined;
  const linked = /^"?([0-9a-f]{64})"?$/i.exec(headers.get("x-linked-etag") ?? "")?.[1]?.toLowerCase();
  const rangeTotal = /\/(\d+)$/.exec(headers.get("content-range") ?? "")?.[1];
  const length = status === 200 ? headers.get("content-length") : undefined;
  return {
    sizeBytes: wholeNumber(headers.get("x-linked-size")) ?? wholeNumber(rangeTotal) ?? wholeNumber(length),
    sha256: linked,
    version: etag?.startsWith("W/") === true ? undefined : etag,
  };
}

/** HTTPS stays HTTPS, and a server cannot send us to a file, to inline data, or to a URL with a password. */
function nextUrl(response: Response, url: string): string {
  const { host, protocol } = new URL(url);
  const location = response.headers.get("location");
  if (location === null || !URL.canParse(location, url))
    throw new AppError("upstream_failed", `${host} redirects without a location.`);
  const next = new URL(location, url);
  if (!["http:", "https:"].includes(next.protocol))
    throw new AppError(
      "upstream_failed",
      `${host} redirects to a ${next.protocol} URL; only http and https are followed.`,
    );
  if (protocol === "https:" && next.protocol !== "https:") {
    throw new AppError(
      "upstream_failed",
      `${host} redirects from HTTPS to ${next.protocol}//${next.host}, which is not secure.`,
    );
  }
  if (next.username !== "" || next.password !== "")
    throw new AppError("upstream_failed", `${host} redirects to a URL with a user name or password.`);
  return next.href;
}

/**
 * The body as text.
 * @throws AppError upstream_failed when it is longer than the limit
 */
export async function readBounded(response: Response, mostBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > mostBytes)
      throw new AppError("upstream_failed", `${new URL(response.url).host} sent more than ${mostBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/**
 * Sends a request and collects metadata of every response on the way; the first value of each wins.
 * @throws AppError for an answer that is neither 2xx nor 416; NoResponse if there is none
 */
export async function requestFile(
  file: RemoteFile,
  options: { readonly method: "GET" | "HEAD"; readonly headers?: Record<string, string>; readonly signal: AbortSignal },
): Promise<RemoteAnswer> {
  let { url } = file;
  let facts: RemoteFileInfo = { sizeBytes: undefined, sha256: undefined, version: undefined };
  for (let count = 0; count <= maximumRedirects; count++) {
    const withToken = file.token !== undefined && new URL(url).origin === new URL(file.url).origin;
    const response = await sendRequest(
      url,
      {
        method: options.method,
        signal: options.signal,
        headers: {
          "accept-encoding": "identity",
          ...options.headers,
          ...(withToken ? { authorization: `Bearer ${file.token}` } : {}),
        },
      },
      file.proxies,
    );
    const found = factsOf(response);
    facts = {
      sizeBytes: facts.sizeBytes ?? found.sizeBytes,
      sha256: facts.sha256 ?? found.sha256,
      version: facts.version ?? found.version,
    };
    if (response.ok || response.status === 416) return { ...facts, response };
    await response.body?.cancel();
    if (response.status < 300 || response.status >= 400) throw problemOf(response.status, url, withToken);
    url = nextUrl(response, url);
  }
  throw new AppError("upstream_failed", `${new URL(file.url).host} redirects more than ${maximumRedirects} times.`);
}

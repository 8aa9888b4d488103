/** Sends the requests of downloads, directly or through a proxy. */
import { ProxyAgent, fetch as fetchThrough } from "undici";
import { NoResponse, networkFailure } from "./network-failure.ts";

/** Proxies as curl and most programs read them from the environment. */
export interface ProxySettings {
  /** For `http` URLs, and for `https` URLs if they have no other. */
  readonly http: string | undefined;
  readonly https: string | undefined;
  /** Hosts that are called directly, separated by commas; `*` for all. */
  readonly except: string | undefined;
}

export interface DownloadRequest {
  readonly method: "GET" | "HEAD";
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** By address, since an agent holds connections. */
const agents = new Map<string, ProxyAgent>();

function agentFor(proxy: string): ProxyAgent {
  const agent = agents.get(proxy) ?? new ProxyAgent(proxy);
  agents.set(proxy, agent);
  return agent;
}

/**
 * Redirects are not followed.
 * @throws NoResponse, or the signal's reason
 */
export async function sendRequest(
  url: string,
  request: DownloadRequest,
  proxies: ProxySettings | undefined,
): Promise<Response> {
  const proxy = findProxy(url, proxies);
  const options = { ...request, redirect: "manual" } as const;
  try {
    if (proxy === undefined) return await fetch(url, options);
    return await fetchThrough(url, { ...options, dispatcher: agentFor(proxy) });
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw new NoResponse(networkFailure(error, url, proxyOf(url, proxies)), error);
  }
}

/** The proxy of a URL, without its password, for messages; undefined if it is called directly. */
export function proxyOf(url: string, proxies: ProxySettings | undefined): string | undefined {
  const proxy = findProxy(url, proxies);
  return proxy === undefined ? undefined : new URL(proxy).origin;
}

function findProxy(url: string, proxies: ProxySettings | undefined): string | undefined {
  if (proxies === undefined) return undefined;
  const { protocol, hostname, host } = new URL(url);
  const given = (protocol === "https:" ? proxies.https : undefined) ?? proxies.http;
  if (given === undefined) return undefined;
  const isExcepted = (proxies.except ?? "").split(/[\s,]+/).some((entry) => {
    const name = entry.toLowerCase().replace(/^\*?\./, "");
    return entry === "*" || (name !== "" && (hostname === name || host === name || hostname.endsWith(`.${name}`)));
  });
  // Like curl, an address without a scheme is one of an HTTP proxy.
  return isExcepted ? undefined : new URL(given.includes("://") ? given : `http://${given}`).href;
}

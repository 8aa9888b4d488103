/** Sends the requests of downloads, directly or through a proxy. */
import { ProxyAgent, fetch as fetchThrough } from "undici";
import { networkFailure } from "../network/network-failure.ts";
import { findProxy, proxyOf, type ProxySettings } from "../network/proxies.ts";
import { NoResponse } from "./no-response.ts";

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

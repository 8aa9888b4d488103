/** Which proxy a request to a URL takes. */

/** Proxies as curl and most programs read them from the environment. */
export interface ProxySettings {
  /** For `http` URLs, and for `https` URLs if they have no other. */
  readonly http: string | undefined;
  readonly https: string | undefined;
  /** Hosts that are called directly, separated by commas; `*` for all. */
  readonly except: string | undefined;
}

/** The proxy of a URL, without its password, for messages; undefined if it is called directly. */
export function proxyOf(url: string, proxies: ProxySettings | undefined): string | undefined {
  const proxy = findProxy(url, proxies);
  return proxy === undefined ? undefined : new URL(proxy).origin;
}

/** The proxy of a URL, with its password. */
export function findProxy(url: string, proxies: ProxySettings | undefined): string | undefined {
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

/** The scheme and the host that the client used: the request's own, or what trusted proxies report. */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { createTrusts } from "./client-address.ts";

export interface RequestOrigin {
  /** Whether the client's connection is encrypted. */
  readonly secure: boolean;
  /** With the port, unless it is the scheme's default. */
  readonly host: string;
  /** Whether a trusted proxy reported the host; otherwise the client may have sent any. */
  readonly isReported: boolean;
}

export type RequestOriginOf = (request: Pick<IncomingMessage, "socket" | "headers">) => RequestOrigin;

/** @param trustedProxies as in `createClientAddress` */
export function createRequestOrigin(trustedProxies: readonly string[]): RequestOriginOf {
  const trusts = createTrusts(trustedProxies);
  return ({ socket, headers }) => {
    const host = headers.host ?? "";
    if (!trusts(socket.remoteAddress)) return { secure: false, host, isReported: false };
    return {
      secure: first(headers, "x-forwarded-proto")?.toLowerCase() === "https",
      host: first(headers, "x-forwarded-host") ?? host,
      isReported: true,
    };
  };
}

/** The value of the proxy that is closest to the client. */
function first(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  const text = (Array.isArray(value) ? value[0] : value)?.split(",", 1)[0]!.trim();
  return text === "" ? undefined : text;
}

/**
 * Whether a browser sent the request from one of the server's own pages. Other ports of the same host are other origins,
 * although browsers send them the same cookies.
 * @returns undefined if the request does not say where it comes from: it is not a browser's, or a GET
 */
export function isSameOrigin(headers: IncomingHttpHeaders, { host }: RequestOrigin): boolean | undefined {
  // Pages cannot set this header. Browsers send it to addresses that they trust: HTTPS and this machine.
  const site = headers["sec-fetch-site"];
  // `none`: the user entered the address.
  if (site !== undefined && site !== "none") return site === "same-origin";
  const { origin } = headers;
  if (origin === undefined) return undefined;
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}

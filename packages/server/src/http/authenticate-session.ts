/**
 * Authenticates a request by the cookie of a session, under protection against requests that other pages forge (CSRF).
 * docs/adr/0005-tenancy-and-sessions.md
 */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { AppError } from "../errors.ts";
import type { Permission } from "../permissions.ts";
import { sessionKey, type CheckedSession } from "../session.ts";
import { Scope } from "../tenant.ts";
import { claimOf, type AttemptedFrom } from "./authenticate.ts";
import { isSameOrigin, type RequestOriginOf } from "./request-origin.ts";
import type { SecretCookie } from "./session-cookie.ts";

export interface Sessions {
  readonly cookie: SecretCookie;
  /** Looks up a session by its secret, undefined if there is none; synchronous when it is cached. */
  check(secret: string): CheckedSession | undefined | Promise<CheckedSession | undefined>;
}

export interface SessionParts {
  readonly sessions: Sessions;
  readonly originOf: RequestOriginOf;
}

/** The secret in the request's cookie; undefined if the request has none, or a key, which takes precedence. */
export function sessionSecret(request: IncomingMessage, { sessions, originOf }: SessionParts): string | undefined {
  const { headers } = request;
  if (
    headers.cookie === undefined ||
    headers.authorization !== undefined ||
    headers["api-key"] !== undefined ||
    headers["x-api-key"] !== undefined
  )
    return undefined;
  return sessions.cookie.read(headers, originOf(request).secure);
}

/** @throws AppError invalid_session, cross_origin, rate_limited after many wrong cookies, and what `authenticate` throws */
export async function authenticateSession(
  request: IncomingMessage,
  secret: string,
  {
    sessions,
    originOf,
    permission,
    from,
  }: SessionParts & { readonly permission: Permission | "any"; readonly from: AttemptedFrom },
): Promise<{ readonly session: CheckedSession; readonly scope: Scope }> {
  requireSameOrigin(request, originOf);
  const session = await sessions.check(secret);
  if (session === undefined) {
    from.failedKeys.count(from.address);
    throw new AppError("invalid_session", "Your session has ended. It has expired or was signed out. Sign in again.");
  }
  const claim = claimOf(request.headers);
  return { session, scope: Scope.fromKey(sessionKey(session, permission, claim), claim) };
}

/** @throws AppError cross_origin unless the request is known to be same-origin; a GET may leave it open */
function requireSameOrigin(request: IncomingMessage, originOf: RequestOriginOf): void {
  const { headers, method = "" } = request;
  const isSafe = method === "GET" || method === "HEAD";
  if (isSameOrigin(headers, originOf(request)) ?? isSafe) return;
  throw crossOrigin(headers);
}

/** @throws AppError cross_origin if a browser sent the request from another origin; other clients may omit where from */
export function refuseOtherOrigins(headers: IncomingHttpHeaders, origin: Parameters<typeof isSameOrigin>[1]): void {
  if (isSameOrigin(headers, origin) === false) throw crossOrigin(headers);
}

function crossOrigin({ origin, "sec-fetch-site": site }: IncomingHttpHeaders): AppError {
  const seen =
    origin === undefined && site === undefined
      ? "has neither an Origin nor a Sec-Fetch-Site header"
      : `comes from another origin (Origin: ${JSON.stringify(origin ?? null)}, Sec-Fetch-Site: ${JSON.stringify(site ?? null)})`;
  return new AppError(
    "cross_origin",
    `The request ${seen}. Sessions are for this server's own pages only; send an API key instead. Behind a proxy, let it pass the Host header on, or add it to server.trusted_proxies.`,
  );
}

/** Reads and writes the cookie of a session. https://www.rfc-editor.org/rfc/rfc6265 */
import type { IncomingHttpHeaders } from "node:http";

export interface SessionCookie {
  /** The session's secret; undefined if the request has none. */
  read(headers: IncomingHttpHeaders, secure: boolean): string | undefined;
  /** The value of Set-Cookie. */
  set(secret: string, options: { readonly secure: boolean; readonly maxAgeSeconds: number }): string;
  /** The value of Set-Cookie that removes the cookie. */
  remove(secure: boolean): string;
}

/**
 * @param installation distinguishes the cookies of servers on different ports of one host, which browsers send to all of
 *   them
 */
export function createSessionCookie(installation: string): SessionCookie {
  // Browsers accept the prefix only from TLS, and then let no other host or unencrypted page replace the cookie.
  const nameOf = (secure: boolean): string => `${secure ? "__Host-" : ""}sounding_session_${installation}`;
  const write = (secret: string, secure: boolean, maxAgeSeconds: number): string =>
    `${nameOf(secure)}=${secret}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;
  return {
    read({ cookie }, secure) {
      if (cookie === undefined) return undefined;
      const start = `${nameOf(secure)}=`;
      const found = cookie
        .split(";")
        .map((pair) => pair.trim())
        .find((pair) => pair.startsWith(start));
      return found === undefined || found === start ? undefined : found.slice(start.length);
    },
    set: (secret, { secure, maxAgeSeconds }) => write(secret, secure, maxAgeSeconds),
    remove: (secure) => write("", secure, 0),
  };
}

/** Reads and writes the cookies of sessions and of sign-ins under way. https://www.rfc-editor.org/rfc/rfc6265 */
import type { IncomingHttpHeaders } from "node:http";

export interface SecretCookie {
  /** The cookie's secret; undefined if the request has none. */
  read(headers: IncomingHttpHeaders, secure: boolean): string | undefined;
  /** The value of Set-Cookie. */
  set(secret: string, options: { readonly secure: boolean; readonly maxAgeSeconds: number }): string;
  /** The value of Set-Cookie that removes the cookie. */
  remove(secure: boolean): string;
}

/** Of a session of the web console. @param installation as in `createSecretCookie` */
export function createSessionCookie(installation: string): SecretCookie {
  return createSecretCookie(`sounding_session_${installation}`, "Strict");
}

/**
 * Of a sign-in under way: an identity provider sends the browser back, which is a request from another site.
 * @param installation as in `createSecretCookie`
 */
export function createSignInCookie(installation: string): SecretCookie {
  return createSecretCookie(`sounding_sign_in_${installation}`, "Lax");
}

/**
 * @param name distinguishes the cookies of servers on different ports of one host, which browsers send to all of them, by the
 *   installation
 */
function createSecretCookie(name: string, sameSite: "Strict" | "Lax"): SecretCookie {
  // Browsers accept the prefix only from TLS, and then let no other host or unencrypted page replace the cookie.
  const nameOf = (secure: boolean): string => `${secure ? "__Host-" : ""}${name}`;
  const write = (secret: string, secure: boolean, maxAgeSeconds: number): string =>
    `${nameOf(secure)}=${secret}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=${sameSite}${secure ? "; Secure" : ""}`;
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

/** Explains requests that a browser refused to send or whose response it withheld: it does not say why. */
import { ConnectionError } from "./errors.ts";

/** The origin of the web page that this runs in; undefined outside of browsers. */
function pageOrigin(): string | undefined {
  return (globalThis as { location?: { origin?: string } }).location?.origin;
}

/**
 * The error for a failed `fetch`, if the page's origin may be the cause: browsers report a refused origin like a network
 * failure. https://fetch.spec.whatwg.org/#cors-protocol
 */
export function crossOriginFailure(url: string | URL, failure: unknown): ConnectionError | undefined {
  const origin = pageOrigin();
  const { origin: target } = new URL(url);
  if (origin === undefined || origin === target || !(failure instanceof TypeError)) return undefined;
  return new ConnectionError(
    `The connection to ${target} failed: ${failure.message}. Either the server cannot be reached, or it does not allow this page: add ${JSON.stringify(origin)} to the server's setting server.cors_origins.`,
    failure,
  );
}

/** Splits a configured `base_url` into the origin that is connected to and the path that requests begin with. */

/** The path has no slashes at its end. */
export function splitBaseUrl(baseUrl: string): { origin: string; path: string } {
  const { origin, pathname } = new URL(baseUrl);
  return { origin, path: pathname.replace(/\/+$/, "") };
}

/** Lets web pages of configured origins call the server (CORS). https://fetch.spec.whatwg.org/#http-cors-protocol */
import type { IncomingMessage } from "node:http";
import type { ResponseHeaders } from "./route.ts";

/** The CORS headers for this request's origin; undefined when the origin is absent or not allowed. */
export function corsHeaders(request: IncomingMessage, allowedOrigins: readonly string[]): ResponseHeaders | undefined {
  const { origin } = request.headers;
  if (origin === undefined || allowedOrigins.length === 0) return undefined;
  if (!allowedOrigins.includes("*") && !allowedOrigins.includes(origin)) return undefined;
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers":
      "x-request-id, retry-after, retry-after-ms, x-should-retry, x-ratelimit-limit-requests, x-ratelimit-remaining-requests, x-ratelimit-reset-requests, x-ratelimit-limit-tokens, x-ratelimit-remaining-tokens, x-ratelimit-reset-tokens, x-sample-rate, x-model, x-cost",
    vary: "origin",
  };
}

/** Headers of the response to a preflight request, in addition to the origin's. */
export function preflightHeaders(request: IncomingMessage, methods: readonly string[]): ResponseHeaders {
  return {
    "access-control-allow-methods": methods.join(", "),
    "access-control-allow-headers": request.headers["access-control-request-headers"] ?? "authorization, content-type",
    "access-control-max-age": "7200",
  };
}

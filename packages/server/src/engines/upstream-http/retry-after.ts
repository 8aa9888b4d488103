/**
 * Parses when an engine wants the next request. `Retry-After` is seconds or a date
 * (https://www.rfc-editor.org/rfc/rfc9110#field.retry-after); OpenAI and Azure also send the finer `retry-after-ms`.
 */
import type { ResponseHeaders } from "./upstream-request.ts";

/** More is not believed: no engine's quota is counted over more than a day. */
const longestMs = 86_400_000;
/** The three forms of an HTTP date (https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7). */
const httpDate =
  /^(?:\w{3}, \d{2} \w{3} \d{4} [\d:]{8} GMT|\w{6,9}, \d{2}-\w{3}-\d{2} [\d:]{8} GMT|\w{3} \w{3} [ \d]\d [\d:]{8} \d{4})$/;

/** @returns milliseconds from now, at most a day; undefined if the header is missing or invalid */
export function retryAfterMs(headers: ResponseHeaders, nowUnixMs: number): number | undefined {
  const ms = requestedMs(headers, nowUnixMs);
  return ms === undefined ? undefined : Math.min(ms, longestMs);
}

function requestedMs(headers: ResponseHeaders, nowUnixMs: number): number | undefined {
  const exactMs = toNumber(headers["retry-after-ms"]);
  if (exactMs !== undefined) return exactMs;
  const value = headers["retry-after"];
  const seconds = toNumber(value);
  if (seconds !== undefined) return Math.ceil(seconds * 1_000);
  if (typeof value !== "string" || !httpDate.test(value.trim())) return undefined;
  const atUnixMs = Date.parse(value);
  return Number.isNaN(atUnixMs) ? undefined : Math.max(0, atUnixMs - nowUnixMs);
}

function toNumber(value: string | string[] | undefined): number | undefined {
  return typeof value === "string" && /^\s*\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : undefined;
}

/**
 * Parses when an engine wants the next request. `Retry-After` is seconds or a date
 * (https://www.rfc-editor.org/rfc/rfc9110#field.retry-after); OpenAI and Azure also send the finer `retry-after-ms`.
 */
import type { ResponseHeaders } from "./upstream-request.ts";

/** @returns milliseconds from now, not negative; undefined if the header is missing or invalid */
export function retryAfterMs(headers: ResponseHeaders, nowUnixMs: number): number | undefined {
  const exactMs = toNumber(headers["retry-after-ms"]);
  if (exactMs !== undefined) return exactMs;
  const value = headers["retry-after"];
  const seconds = toNumber(value);
  if (seconds !== undefined) return Math.ceil(seconds * 1_000);
  if (typeof value !== "string") return undefined;
  const atUnixMs = Date.parse(value);
  return Number.isNaN(atUnixMs) ? undefined : Math.max(0, atUnixMs - nowUnixMs);
}

function toNumber(value: string | string[] | undefined): number | undefined {
  return typeof value === "string" && /^\s*\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : undefined;
}

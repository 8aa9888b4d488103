/**
 * Parses when an engine wants the next request. `Retry-After` is seconds or a date
 * (https://www.rfc-editor.org/rfc/rfc9110#field.retry-after); OpenAI and Azure also send the finer `retry-after-ms`, Google says
 * it in the body, and many say only when their rate limits start anew.
 */
import type { ResponseHeaders } from "./response-reader.ts";
import { isObject } from "../../json-object.ts";

/** More is not believed: no engine's quota is counted over more than a day. */
const longestMs = 86_400_000;
/** The three forms of an HTTP date (https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7). */
const httpDate =
  /^(?:\w{3}, \d{2} \w{3} \d{4} [\d:]{8} GMT|\w{6,9}, \d{2}-\w{3}-\d{2} [\d:]{8} GMT|\w{3} \w{3} [ \d]\d [\d:]{8} \d{4})$/;

/** An answer that may ask for a pause. */
export interface PausingAnswer {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** The parsed body, if it is JSON. */
  readonly body: unknown;
}

/** @returns milliseconds from now, at most a day; undefined if the answer asks for no pause */
export function retryAfterMs({ body, headers, status }: PausingAnswer, nowUnixMs: number): number | undefined {
  const ms =
    headerMs(headers, nowUnixMs) ??
    retryInfoMs(body) ??
    (isRateLimit(status) ? resetMs(headers, nowUnixMs) : undefined);
  return ms === undefined ? undefined : Math.min(ms, longestMs);
}

function headerMs(headers: ResponseHeaders, nowUnixMs: number): number | undefined {
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

/** `{"error": {"details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}]}}` */
function retryInfoMs(body: unknown): number | undefined {
  const outer: unknown = Array.isArray(body) ? body[0] : body;
  const error = isObject(outer) ? outer["error"] : undefined;
  const details: unknown = isObject(error) ? error["details"] : undefined;
  if (!Array.isArray(details)) return undefined;
  const info = details.find(
    (each) => isObject(each) && String(each["@type"]).endsWith("google.rpc.RetryInfo"),
  ) as unknown;
  const delay = isObject(info) ? info["retryDelay"] : undefined;
  const seconds =
    typeof delay === "string" ? /^(?<seconds>\d+(?:\.\d+)?)s$/.exec(delay)?.groups?.["seconds"] : undefined;
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1_000);
}

/** On other answers the headers say what is left, not when to come back. */
function isRateLimit(status: number): boolean {
  return status === 429;
}

const limited = ["requests", "tokens", "input-tokens", "output-tokens"] as const;
/** The headers of a limit that says when it starts anew, and of what is left of it. */
const resetHeaders: readonly (readonly [reset: string, remaining: string])[] = [
  ...limited.map((each) => [`x-ratelimit-reset-${each}`, `x-ratelimit-remaining-${each}`] as const),
  ...limited.map((each) => [`anthropic-ratelimit-${each}-reset`, `anthropic-ratelimit-${each}-remaining`] as const),
  ["x-ratelimit-reset", "x-ratelimit-remaining"],
  ["ratelimit-reset", "ratelimit-remaining"],
];

/** When the limits that are used up start anew; if none says that it is, when the first one does. */
function resetMs(headers: ResponseHeaders, nowUnixMs: number): number | undefined {
  const resets = resetHeaders.flatMap(([reset, remaining]) => {
    const ms = untilMs(headers[reset], nowUnixMs);
    return ms === undefined ? [] : [{ ms, isUsedUp: toNumber(headers[remaining]) === 0 }];
  });
  if (resets.length === 0) return undefined;
  const usedUp = resets.filter(({ isUsedUp }) => isUsedUp);
  return usedUp.length > 0 ? Math.max(...usedUp.map(({ ms }) => ms)) : Math.min(...resets.map(({ ms }) => ms));
}

const unitMs: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };
/** A number of seconds that is longer ago than any duration is a UNIX time. */
const leastUnixSeconds = 1_000_000_000;
const leastUnixMs = 1_000_000_000_000;

/** A duration such as `6m0s`, seconds, a UNIX time in seconds or milliseconds, or a time such as `2026-11-27T05:21:15Z`. */
function untilMs(value: string | string[] | undefined, nowUnixMs: number): number | undefined {
  if (typeof value !== "string") return undefined;
  const number = toNumber(value);
  if (number !== undefined) {
    if (number >= leastUnixMs) return Math.max(0, number - nowUnixMs);
    return number >= leastUnixSeconds ? Math.max(0, number * 1_000 - nowUnixMs) : Math.ceil(number * 1_000);
  }
  const text = value.trim();
  if (/^(?:\d+(?:\.\d+)?(?:d|h|ms|m|s))+$/.test(text)) {
    const parts = text.matchAll(/(\d+(?:\.\d+)?)(d|h|ms|m|s)/g);
    return Math.ceil([...parts].reduce((sum, [, amount, unit]) => sum + Number(amount) * unitMs[unit!]!, 0));
  }
  if (!/^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})$/.test(text)) return undefined;
  const atUnixMs = Date.parse(text);
  return Number.isNaN(atUnixMs) ? undefined : Math.max(0, atUnixMs - nowUnixMs);
}

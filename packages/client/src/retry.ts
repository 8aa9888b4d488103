/** Decides whether and when a failed call is retried; pure. The rules are those of OpenAI's clients. */
import { ApiStatusError, ConnectionError, type SoundingError } from "./errors.ts";

const longestWaitMs = 60_000;

export interface RetrySituation {
  readonly failure: SoundingError;
  /** Number of retries so far. */
  readonly retries: number;
  readonly maxRetries: number;
  /** Remaining time until the call's timeout. */
  readonly remainingMs: number;
  /** A random number from 0 to 1, to spread the retries of callers that failed together. */
  readonly random: number;
  /** Milliseconds since 1970, for dates in `retry-after`. */
  readonly nowMs: number;
}

/** Milliseconds to wait before the next attempt; undefined if there must be none. */
export function retryWaitMs(situation: RetrySituation): number | undefined {
  const { failure, retries, maxRetries, remainingMs } = situation;
  if (retries >= maxRetries || !isRepeatable(failure)) return undefined;
  const asked = failure instanceof ApiStatusError ? askedWaitMs(failure.headers, situation.nowMs) : undefined;
  const waitMs = asked ?? backoffMs(retries, situation.random);
  // If the wait is longer than the rest of the call or a reasonable time, the caller decides.
  return waitMs > longestWaitMs || waitMs >= remainingMs ? undefined : waitMs;
}

function isRepeatable(failure: SoundingError): boolean {
  if (failure instanceof ConnectionError) return true;
  if (!(failure instanceof ApiStatusError)) return false;
  const advice = failure.headers.get("x-should-retry");
  if (advice === "true" || advice === "false") return advice === "true";
  return [408, 409, 429].includes(failure.status) || failure.status >= 500;
}

/** Half a second, doubled each time up to eight seconds, minus up to a quarter. */
function backoffMs(retries: number, random: number): number {
  return Math.min(500 * 2 ** retries, 8000) * (1 - 0.25 * random);
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date. https://www.rfc-editor.org/rfc/rfc9110#field.retry-after */
function askedWaitMs(headers: Headers, nowMs: number): number | undefined {
  const milliseconds = numberIn(headers.get("retry-after-ms"));
  if (milliseconds !== undefined) return milliseconds;
  const text = headers.get("retry-after");
  const seconds = numberIn(text);
  if (seconds !== undefined) return seconds * 1000;
  const dateMs = Date.parse(text ?? "");
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}

function numberIn(text: string | null): number | undefined {
  return text !== null && /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : undefined;
}

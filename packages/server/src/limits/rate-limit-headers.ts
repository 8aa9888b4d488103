/** The `x-ratelimit-…` response headers, like OpenAI's: https://platform.openai.com/docs/guides/rate-limits */
import { formatDuration } from "./duration.ts";
import type { LimitedSubject } from "./subject.ts";
import { remainingTokens, refillMs } from "./token-bucket.ts";

/** The current headers: for each kind of limit, the one with the least left; none for what has no limit. */
export function rateLimitHeaders(subjects: readonly LimitedSubject[], nowMs: number): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { name, bucket, limit } of rates) {
    const tightest = tightestOf(subjects, { bucket, limit }, nowMs);
    if (tightest === undefined) continue;
    headers[`x-ratelimit-limit-${name}`] = String(tightest.limit);
    headers[`x-ratelimit-remaining-${name}`] = String(tightest.remaining);
    headers[`x-ratelimit-reset-${name}`] = formatDuration(tightest.resetMs);
  }
  return headers;
}

const rates = [
  { name: "requests", bucket: "requests", limit: "requests_per_minute" },
  { name: "tokens", bucket: "tokens", limit: "tokens_per_minute" },
  { name: "compute-seconds", bucket: "compute", limit: "compute_seconds_per_minute" },
] as const;

function tightestOf(
  subjects: readonly LimitedSubject[],
  rate: Pick<(typeof rates)[number], "bucket" | "limit">,
  nowMs: number,
) {
  let tightest: { limit: number; remaining: number; resetMs: number } | undefined;
  for (const { subject, limits } of subjects) {
    const limit = limits[rate.limit];
    if (limit === undefined) continue;
    const resetMs = refillMs(subject[rate.bucket], limit, nowMs);
    const remaining = remainingTokens(subject[rate.bucket], limit, nowMs);
    if (tightest === undefined || remaining < tightest.remaining) tightest = { limit, remaining, resetMs };
  }
  return tightest;
}

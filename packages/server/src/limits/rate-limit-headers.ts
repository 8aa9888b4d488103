/** The `x-ratelimit-…` response headers, like OpenAI's: https://platform.openai.com/docs/guides/rate-limits */
import { formatDuration } from "./duration.ts";
import type { Limits } from "../tenant.ts";
import type { LimitedSubject } from "./subject.ts";
import { remainingTokens, refillMs } from "./token-bucket.ts";

/** The current headers: for each kind of limit, the one with the least left; none for what has no limit. */
export function rateLimitHeaders(subjects: readonly LimitedSubject[], nowMs: number): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const rate of rates) {
    const tightest = tightestOf(subjects, rate, nowMs);
    if (tightest === undefined) continue;
    headers[rate.limitHeader] = String(tightest.limit);
    headers[rate.remainingHeader] = String(tightest.remaining);
    headers[rate.resetHeader] = formatDuration(tightest.resetMs);
  }
  return headers;
}

const rates = [
  rateOf("requests", "requests", "requests_per_minute"),
  rateOf("tokens", "tokens", "tokens_per_minute"),
  rateOf("compute-seconds", "compute", "compute_seconds_per_minute"),
];

/** With the names of its headers, which would otherwise be put together for every response. */
function rateOf<Bucket extends "requests" | "tokens" | "compute", Limit extends keyof Limits>(
  name: string,
  bucket: Bucket,
  limit: Limit,
) {
  return {
    bucket,
    limit,
    limitHeader: `x-ratelimit-limit-${name}`,
    remainingHeader: `x-ratelimit-remaining-${name}`,
    resetHeader: `x-ratelimit-reset-${name}`,
  };
}

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

/** The `x-ratelimit-…` headers, as OpenAI has them: https://platform.openai.com/docs/guides/rate-limits */
import { formatDuration } from "./duration.ts";
import type { LimitedSubject } from "./subject.ts";
import { leftNow, refillMs } from "./token-bucket.ts";

/** The headers as things stand now: of each kind, the limit that has least left; none where there is no limit. */
export function rateLimitHeaders(subjects: readonly LimitedSubject[], nowMs: number): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const kind of ["requests", "tokens"] as const) {
    const tightest = tightestOf(subjects, kind, nowMs);
    if (tightest === undefined) continue;
    headers[`x-ratelimit-limit-${kind}`] = String(tightest.limit);
    headers[`x-ratelimit-remaining-${kind}`] = String(tightest.remaining);
    headers[`x-ratelimit-reset-${kind}`] = formatDuration(tightest.resetMs);
  }
  return headers;
}

function tightestOf(subjects: readonly LimitedSubject[], kind: "requests" | "tokens", nowMs: number) {
  let tightest: { limit: number; remaining: number; resetMs: number } | undefined;
  for (const { subject, limits } of subjects) {
    const limit = limits[`${kind}_per_minute`];
    if (limit === undefined) continue;
    const resetMs = refillMs(subject[kind], limit, nowMs);
    const remaining = leftNow(subject[kind], limit, nowMs);
    if (tightest === undefined || remaining < tightest.remaining) tightest = { limit, remaining, resetMs };
  }
  return tightest;
}

/** Decides whether limits refuse a call. The error names the limit, its value and when to retry. */
import { AppError } from "../errors.ts";
import { formatDuration } from "./duration.ts";
import type { MonthlyUsage } from "./monthly-usage.ts";
import { rateLimitHeaders } from "./rate-limit-headers.ts";
import type { LimitedSubject, Subject } from "./subject.ts";
import { remainingTokens, consumedTokens, waitMs } from "./token-bucket.ts";
import { requestNouns, type TrafficClass } from "./traffic-class.ts";

/** Why a call is refused, and for how long. */
interface Refusal {
  readonly code: "rate_limited" | "quota_exceeded";
  readonly message: string;
  readonly retryAfterMs: number;
}

export interface AdmissionRequest {
  readonly trafficClass: TrafficClass;
  readonly estimatedTokens: number;
  readonly nowMs: number;
  readonly usage: MonthlyUsage;
}

/** For limits that only the end of another call frees, at an unknown time. */
const unknownWaitMs = 1_000;

/** The error for the limit with the longest wait; undefined when the call is admitted. Takes nothing from the limits. */
export function checkLimits(subjects: readonly LimitedSubject[], request: AdmissionRequest): AppError | undefined {
  let longest: Refusal | undefined;
  for (const limited of subjects) {
    for (const check of checks) {
      longest = longerOf(longest, check(limited, request));
    }
  }
  return longest === undefined ? undefined : toError(longest, subjects, request);
}

/** Like `checkLimits`, for the budgets of the month alone. */
export function checkMonths(subjects: readonly LimitedSubject[], request: AdmissionRequest): AppError | undefined {
  let refusal: Refusal | undefined;
  for (const limited of subjects) refusal = longerOf(refusal, checkMonth(limited, request));
  return refusal === undefined ? undefined : toError(refusal, subjects, request);
}

/** The error for a call that a shared limit refuses although this process knows no reason any more. */
export function takenElsewhere(subjects: readonly LimitedSubject[], request: AdmissionRequest): AppError {
  const names = subjects.map(({ subject }) => nameOf(subject)).join(" or ");
  const message = `A limit of ${names} is being used up by calls to other servers. Retry in ${formatDuration(unknownWaitMs)}.`;
  return toError(rateLimited(message, unknownWaitMs), subjects, request);
}

type Check = (limited: LimitedSubject, request: AdmissionRequest) => Refusal | undefined;

const checks: readonly Check[] = [checkMonth, checkRequests, checkTokens, checkCompute, checkConcurrency];

function longerOf(longest: Refusal | undefined, refusal: Refusal | undefined): Refusal | undefined {
  if (refusal === undefined) return longest;
  return longest === undefined || refusal.retryAfterMs > longest.retryAfterMs ? refusal : longest;
}

function toError(refusal: Refusal, subjects: readonly LimitedSubject[], { nowMs }: AdmissionRequest): AppError {
  const { code, message, retryAfterMs } = refusal;
  return new AppError(code, message, {
    retryAfterMs: Math.ceil(retryAfterMs),
    headers: rateLimitHeaders(subjects, nowMs),
  });
}

function nameOf(subject: Subject): string {
  return `${subject.kind === "key" ? "The API key" : "The organization"} ${JSON.stringify(subject.name)}`;
}

function rateLimited(message: string, retryAfterMs: number): Refusal {
  return { code: "rate_limited", message, retryAfterMs };
}

function checkMonth({ subject, limits }: LimitedSubject, { usage, nowMs }: AdmissionRequest): Refusal | undefined {
  const budget = limits.tokens_per_month;
  if (budget === undefined) return undefined;
  const used =
    subject.kind === "key" ? usage.keyTokens(subject.id, nowMs) : usage.organizationTokens(subject.id, nowMs);
  const month = usage.month(nowMs);
  if (used >= budget) {
    const begins = new Date(month.endUnixMs).toISOString().replace(".000", "");
    const message = `${nameOf(subject)} has a budget of ${budget} tokens per month, and ${used} have been used in ${month.name}; the next month starts at ${begins}.`;
    return { code: "quota_exceeded", message, retryAfterMs: month.endUnixMs - nowMs };
  }
  if (used + subject.reservedTokens < budget) return undefined;
  return rateLimited(
    `${nameOf(subject)} has a budget of ${budget} tokens per month; ${used} have been used, and calls in flight may need the rest. Retry when they have finished.`,
    unknownWaitMs,
  );
}

function checkRequests(
  { subject, limits }: LimitedSubject,
  { trafficClass, nowMs }: AdmissionRequest,
): Refusal | undefined {
  const limit = limits.requests_per_minute;
  if (limit === undefined) return undefined;
  const wait = waitMs(subject.requests, limit, { amount: 1, nowMs });
  if (wait === 0) return undefined;
  return rateLimited(
    `${nameOf(subject)} is limited to ${limit} ${requestNouns[trafficClass]} per minute, and all have been used. Retry in ${formatDuration(wait)}.`,
    wait,
  );
}

function checkTokens(
  { subject, limits }: LimitedSubject,
  { estimatedTokens, nowMs }: AdmissionRequest,
): Refusal | undefined {
  const limit = limits.tokens_per_minute;
  if (limit === undefined) return undefined;
  const wait = waitMs(subject.tokens, limit, { amount: Math.min(estimatedTokens, limit), nowMs });
  if (wait === 0) return undefined;
  const left = remainingTokens(subject.tokens, limit, nowMs);
  return rateLimited(
    `${nameOf(subject)} is limited to ${limit} tokens per minute; ${left} are left, and this request may need ${estimatedTokens}. Retry in ${formatDuration(wait)}.`,
    wait,
  );
}

/** Admits while any of the budget is left, since the cost of a request is unknown before it runs. */
function checkCompute(
  { subject, limits }: LimitedSubject,
  { trafficClass, nowMs }: AdmissionRequest,
): Refusal | undefined {
  const limit = limits.compute_seconds_per_minute;
  if (limit === undefined) return undefined;
  const wait = waitMs(subject.compute, limit, { amount: 0, nowMs });
  if (wait === 0) return undefined;
  const used = consumedTokens(subject.compute, limit, nowMs).toFixed(1);
  return rateLimited(
    `${nameOf(subject)} is limited to ${limit} compute seconds per minute for ${requestNouns[trafficClass]}, and ${used} have been used. Retry in ${formatDuration(wait)}.`,
    wait,
  );
}

function checkConcurrency(
  { subject, limits }: LimitedSubject,
  { trafficClass }: AdmissionRequest,
): Refusal | undefined {
  const limit = limits.concurrent_requests;
  const running = subject.inFlight + subject.inFlightElsewhere;
  if (limit === undefined || running < limit) return undefined;
  return rateLimited(
    `${nameOf(subject)} is limited to ${limit} concurrent ${requestNouns[trafficClass]}, and ${running} are running. Retry when one has finished.`,
    unknownWaitMs,
  );
}

/**
 * Decides whether a failed call is retried or falls back, and how long to wait. docs/chat/routing.md has the rules for users.
 */
import type { RetrySettings } from "../config/models.ts";
import { abortReason } from "../abort.ts";
import type { AbortSource } from "../cancellation.ts";
import { AppError, toAppError, type ErrorCode } from "../errors.ts";

/**
 * - `retry`: the same target may answer the next time, another one too;
 * - `other_target`: this target will not answer this call, another may;
 * - `fallback`: no target of this model will, a fallback may: it can have the parameter, or the room;
 * - `stop`: the caller must change something, or went away.
 */
type FailureAction = "retry" | "other_target" | "fallback" | "stop";

const remedies: Partial<Record<ErrorCode, FailureAction>> = {
  rate_limited: "retry",
  overloaded: "retry",
  upstream_failed: "retry",
  upstream_timeout: "retry",
  quota_exceeded: "other_target",
  model_not_found: "other_target",
  internal: "other_target",
  unsupported_parameter: "fallback",
  context_length_exceeded: "fallback",
};

export function classifyFailure(code: ErrorCode): FailureAction {
  return remedies[code] ?? "stop";
}

/**
 * Wait before a further try, milliseconds: doubling from `backoff_ms` to `max_backoff_ms`, less up to half of it by
 * chance, so that callers that failed together do not come back together.
 * @param round 0 for the first wait of a call
 */
export function backoffMs(retries: RetrySettings, round: number, random: () => number): number {
  const longest = Math.min(retries.max_backoff_ms, retries.backoff_ms * 2 ** round);
  return longest * (1 - random() / 2);
}

/** What an engine threw, as the error of this call: after an abort, always the abort. */
export function callError(thrown: unknown, signal: AbortSource): AppError {
  return signal.aborted ? abortReason(signal) : toAppError(thrown);
}

/**
 * The more useful of two failures of one call: one that the caller can fix, then one with a Retry-After, then
 * the earlier. The soonest time of both is kept, because then the target that named it may answer.
 */
export function preferError(earlier: AppError | undefined, later: AppError): AppError {
  if (earlier === undefined) return later;
  if (classifyFailure(earlier.code) === "fallback") return earlier;
  const preferred = earlier.retryAfterMs === undefined && later.retryAfterMs !== undefined ? later : earlier;
  const times = [earlier.retryAfterMs, later.retryAfterMs].filter((time) => time !== undefined);
  const soonest = times.length === 0 ? undefined : Math.min(...times);
  return preferred.retryAfterMs === soonest ? preferred : withRetryAfter(preferred, soonest);
}

/** The same error with another time to come back. */
export function withRetryAfter(error: AppError, retryAfterMs: number | undefined): AppError {
  return new AppError(error.code, error.message, {
    cause: error.cause,
    retryAfterMs,
    lasting: error.lasting,
    full: error.full,
    ...(error.param === null ? {} : { param: error.param }),
    ...(error.wireCode === null ? {} : { wireCode: error.wireCode }),
  });
}

/**
 * A token bucket that is drained when it is looked at, so it needs no timer: https://en.wikipedia.org/wiki/Token_bucket
 * It holds what was taken, not what is left; the limit is an argument, so that a changed limit holds at once.
 */

const minuteMs = 60_000;

export interface TokenBucket {
  /** What was taken and has not flowed back; more than the limit when a call took more than it had reserved. */
  taken: number;
  updatedMs: number;
}

export function createBucket(nowMs: number): TokenBucket {
  return { taken: 0, updatedMs: nowMs };
}

/** Lets flow back what the time since the last look gives, and says what is taken now. A clock that jumps back gives nothing. */
export function consumedTokens(bucket: TokenBucket, limitPerMinute: number, nowMs: number): number {
  const elapsedMs = nowMs - bucket.updatedMs;
  if (elapsedMs > 0) bucket.taken = Math.max(0, bucket.taken - (elapsedMs * limitPerMinute) / minuteMs);
  bucket.updatedMs = nowMs;
  return bucket.taken;
}

/** Time until `amount` can be taken, in milliseconds; 0 when it can be now. Ask for no more than the limit. */
export function waitMs(
  bucket: TokenBucket,
  limitPerMinute: number,
  request: { amount: number; nowMs: number },
): number {
  const excess = consumedTokens(bucket, limitPerMinute, request.nowMs) + request.amount - limitPerMinute;
  return excess <= roundingError(limitPerMinute) ? 0 : (excess * minuteMs) / limitPerMinute;
}

/** What can be taken now, as a whole number. */
export function remainingTokens(bucket: TokenBucket, limitPerMinute: number, nowMs: number): number {
  const left = limitPerMinute - consumedTokens(bucket, limitPerMinute, nowMs) + roundingError(limitPerMinute);
  return Math.min(limitPerMinute, Math.max(0, Math.floor(left)));
}

/** How far sums of many small parts may be off, so that they must not cost a wait. */
function roundingError(limitPerMinute: number): number {
  return Math.max(1e-6, limitPerMinute * 1e-12);
}

/** Takes from the bucket, or gives back when `amount` is negative. */
export function take(bucket: TokenBucket, amount: number): void {
  bucket.taken = Math.max(0, bucket.taken + amount);
}

/** Time until everything has flowed back, in milliseconds. */
export function refillMs(bucket: TokenBucket, limitPerMinute: number, nowMs: number): number {
  return (consumedTokens(bucket, limitPerMinute, nowMs) * minuteMs) / limitPerMinute;
}

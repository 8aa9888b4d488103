/**
 * A token bucket that is refilled when it is read, so it needs no timer: https://en.wikipedia.org/wiki/Token_bucket
 * It stores what was taken, not what is left, and gets the limit as an argument, so that a changed limit applies at once.
 */

const minuteMs = 60_000;

export interface TokenBucket {
  /** Taken and not yet refilled; above the limit when the bucket is overdrawn. */
  taken: number;
  updatedMs: number;
}

export function createBucket(nowMs: number): TokenBucket {
  return { taken: 0, updatedMs: nowMs };
}

/** Refills the bucket for the time that has passed, unless the clock jumped back, and returns what is still taken. */
export function consumedTokens(bucket: TokenBucket, limitPerMinute: number, nowMs: number): number {
  const elapsedMs = nowMs - bucket.updatedMs;
  if (elapsedMs > 0) bucket.taken = Math.max(0, bucket.taken - (elapsedMs * limitPerMinute) / minuteMs);
  bucket.updatedMs = nowMs;
  return bucket.taken;
}

/** Milliseconds until `amount`, at most the limit, can be taken; 0 if it can be taken now. */
export function waitMs(
  bucket: TokenBucket,
  limitPerMinute: number,
  request: { amount: number; nowMs: number },
): number {
  const excess = consumedTokens(bucket, limitPerMinute, request.nowMs) + request.amount - limitPerMinute;
  return excess <= roundingError(limitPerMinute) ? 0 : (excess * minuteMs) / limitPerMinute;
}

/** What can be taken now, rounded down. */
export function remainingTokens(bucket: TokenBucket, limitPerMinute: number, nowMs: number): number {
  const left = limitPerMinute - consumedTokens(bucket, limitPerMinute, nowMs) + roundingError(limitPerMinute);
  return Math.min(limitPerMinute, Math.max(0, Math.floor(left)));
}

/** Tolerance for floating-point errors of many small amounts, which must not cause a wait. */
function roundingError(limitPerMinute: number): number {
  return Math.max(1e-6, limitPerMinute * 1e-12);
}

/** Takes from the bucket; a negative `amount` gives back. */
export function take(bucket: TokenBucket, amount: number): void {
  bucket.taken = Math.max(0, bucket.taken + amount);
}

/** Milliseconds until the bucket is full again. */
export function refillMs(bucket: TokenBucket, limitPerMinute: number, nowMs: number): number {
  return (consumedTokens(bucket, limitPerMinute, nowMs) * minuteMs) / limitPerMinute;
}

/**
 * A token bucket from which processes take amounts in advance. What they may still hold unused does not refill, so that
 * using it late never exceeds the limit.
 */
import type { BucketAnswer, BucketRequest } from "./limit-ledger.ts";

export interface BucketAccount {
  /** Taken and not yet refilled. */
  readonly taken: number;
  readonly updatedMs: number;
  /** Granted for later calls in the current period, and in the one before it. */
  readonly spare: number;
  readonly spareBefore: number;
  /** When the current period ends. */
  readonly periodEndMs: number;
}

/** The part of what is left that one process may get for later calls. */
export const spareShare = 1 / 8;

const minuteMs = 60_000;
/** Tolerance for floating-point errors of many small amounts, which must not cost a whole unit. */
const roundingError = 1e-6;

/** Answers one request. The account is undefined if nothing is known of the bucket, which is then full. */
export function settleBucket(
  account: BucketAccount | undefined,
  request: BucketRequest,
  { nowMs, leaseMs }: { readonly nowMs: number; readonly leaseMs: number },
): { readonly account: BucketAccount; readonly answer: BucketAnswer } {
  const { perMinute: limit, returned, charged, demand, atLeast } = request;
  // What was used at the end of its lease can still be returned within the same time.
  const periodLengthMs = 2 * leaseMs;
  let { taken, updatedMs, spare, spareBefore, periodEndMs } = account ?? newAccount(nowMs);

  const refill = (untilMs: number): void => {
    const unused = Math.min(taken, spare + spareBefore);
    taken = Math.max(unused, taken - (Math.max(0, untilMs - updatedMs) * limit) / minuteMs);
    updatedMs = untilMs;
  };
  while (nowMs >= periodEndMs && spare + spareBefore > 0) {
    refill(periodEndMs);
    spareBefore = spare;
    spare = 0;
    periodEndMs += periodLengthMs;
  }
  // Also after the clock jumped back.
  if (nowMs >= periodEndMs || periodEndMs > nowMs + periodLengthMs) periodEndMs = nowMs + periodLengthMs;
  refill(nowMs);

  taken = Math.max(0, taken - returned);
  const returnedBefore = Math.min(spareBefore, returned);
  spareBefore -= returnedBefore;
  spare = Math.max(0, spare - (returned - returnedBefore));
  taken = Math.max(Math.min(taken, spare + spareBefore), taken + charged);

  const left = Math.max(0, Math.floor(limit - taken + roundingError));
  const needed = left < atLeast ? 0 : Math.min(left, demand);
  const extra = left < atLeast ? 0 : Math.min(request.spare, Math.floor((left - needed) * spareShare));
  taken += needed + extra;
  return {
    account: { taken, updatedMs, spare: spare + extra, spareBefore, periodEndMs },
    answer: { granted: needed + extra, taken },
  };
}

function newAccount(nowMs: number): BucketAccount {
  return { taken: 0, updatedMs: nowMs, spare: 0, spareBefore: 0, periodEndMs: nowMs };
}

/** When the bucket is full again and nothing of it can be in use, so that the account may be forgotten. */
export function bucketExpiryMs(account: BucketAccount, request: BucketRequest, leaseMs: number): number {
  return account.periodEndMs + 2 * leaseMs + (account.taken * minuteMs) / request.perMinute;
}

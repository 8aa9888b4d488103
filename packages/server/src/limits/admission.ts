/** An admitted call: what it reserves of its key's and its organization's limits until it is settled. */
import type { CheckedKey, Limits } from "../tenant.ts";
import type { BudgetHold } from "./budgets/budget-hold.ts";
import type { MonthlyUsage } from "./monthly-usage.ts";
import { rateLimitHeaders } from "./rate-limit-headers.ts";
import type { LimitedSubject, Subject } from "./subject.ts";
import type { LeaseReports, SubjectLeases } from "./shared/subject-leases.ts";
import { refillMs, take, consumedTokens } from "./token-bucket.ts";

/** What one call reserves of one subject's limits. */
export class Reservation implements LimitedSubject {
  readonly subject: Subject;
  readonly limits: Limits;
  readonly #estimatedTokens: number;
  readonly #reservedTokens: number;
  /** Where limits are shared. */
  readonly #leases: SubjectLeases | undefined;
  /** Whether requests and tokens were taken from `#leases`. */
  readonly #leased: boolean;

  constructor(
    { subject, limits }: LimitedSubject,
    request: { readonly estimatedTokens: number; readonly nowMs: number },
    leased = false,
  ) {
    this.#leases = subject.leases;
    this.#leased = leased;
    this.#leases?.begin();
    this.subject = subject;
    this.limits = limits;
    this.#estimatedTokens = request.estimatedTokens;
    // A call larger than the limit reserves the full bucket; the overdraft delays later calls.
    this.#reservedTokens = Math.min(request.estimatedTokens, limits.tokens_per_minute ?? 0);
    subject.inFlight += 1;
    subject.reservedTokens += request.estimatedTokens;
    if (limits.requests_per_minute !== undefined) {
      consumedTokens(subject.requests, limits.requests_per_minute, request.nowMs);
      take(subject.requests, 1);
    }
    if (limits.tokens_per_minute !== undefined) {
      consumedTokens(subject.tokens, limits.tokens_per_minute, request.nowMs);
      take(subject.tokens, this.#reservedTokens);
    }
  }

  /** Charges what the call uses while it runs. It may overdraw the bucket. */
  charge(computeSeconds: number, nowMs: number, shared?: LeaseReports): void {
    const limit = this.limits.compute_seconds_per_minute;
    if (limit === undefined) return;
    consumedTokens(this.subject.compute, limit, nowMs);
    take(this.subject.compute, computeSeconds);
    if (this.#leases === undefined) return;
    this.#leases.compute.charge(computeSeconds);
    shared?.activate(this.#leases);
  }

  release(usedTokens: number, nowMs: number, shared?: LeaseReports): void {
    const { subject, limits } = this;
    subject.inFlight -= 1;
    subject.reservedTokens -= this.#estimatedTokens;
    if (limits.requests_per_minute !== undefined) {
      this.#extendReplenishment(nowMs + refillMs(subject.requests, limits.requests_per_minute, nowMs));
    }
    if (limits.tokens_per_minute !== undefined) {
      consumedTokens(subject.tokens, limits.tokens_per_minute, nowMs);
      take(subject.tokens, usedTokens - this.#reservedTokens);
      this.#leases?.tokens.charge(usedTokens - (this.#leased ? this.#reservedTokens : 0));
      this.#extendReplenishment(nowMs + refillMs(subject.tokens, limits.tokens_per_minute, nowMs));
    }
    if (limits.compute_seconds_per_minute !== undefined) {
      this.#extendReplenishment(nowMs + refillMs(subject.compute, limits.compute_seconds_per_minute, nowMs));
    }
    if (this.#leases !== undefined) shared?.end(this.#leases);
  }

  /** Gives back everything that was taken. */
  cancel(nowMs: number, shared?: LeaseReports): void {
    const { subject, limits } = this;
    if (limits.requests_per_minute !== undefined) {
      consumedTokens(subject.requests, limits.requests_per_minute, nowMs);
      take(subject.requests, -1);
      if (this.#leased) this.#leases?.requests.charge(-1);
    }
    this.release(0, nowMs, shared);
  }

  #extendReplenishment(restedAtMs: number): void {
    if (restedAtMs > this.subject.replenishedAtMs) this.subject.replenishedAtMs = restedAtMs;
  }
}

const billionths = 1e9;

interface Call {
  readonly key: CheckedKey;
  readonly usage: MonthlyUsage;
  readonly now: () => number;
  /** Absent: the process counts alone. */
  readonly shared?: LeaseReports | undefined;
}

/** An admitted call. It must be settled or cancelled. */
export class Admission {
  readonly #call: Call;
  readonly #key: Reservation;
  readonly #organization: Reservation;
  /** Undefined: no budget counts the call. */
  #hold: BudgetHold | undefined;
  #settled = false;

  constructor(call: Call, key: Reservation, organization: Reservation) {
    this.#call = call;
    this.#key = key;
    this.#organization = organization;
  }

  /** Adds what the call reserves of budgets. Ends with the admission. */
  hold(hold: BudgetHold | undefined): void {
    if (this.#settled) hold?.settle(0);
    else this.#hold = hold;
  }

  /** Charges compute seconds as soon as they are known, even after the call has ended. */
  charge(computeSeconds: number): void {
    const nowMs = this.#call.now();
    this.#key.charge(computeSeconds, nowMs, this.#call.shared);
    this.#organization.charge(computeSeconds, nowMs, this.#call.shared);
  }

  /**
   * Ends the call: replaces the reservation by the actual usage and frees its concurrency. Idempotent.
   * @param use.tokens prompt and completion tokens together; absent: none
   * @param use.cost what the call cost, in the currency's unit; absent: nothing, or not known
   */
  settle({
    cost,
    tokens = 0,
  }: { readonly tokens?: number; readonly cost?: { readonly total: number } | undefined } = {}): void {
    if (this.#settled) return;
    this.#settled = true;
    const nowMs = this.#call.now();
    this.#key.release(tokens, nowMs, this.#call.shared);
    this.#organization.release(tokens, nowMs, this.#call.shared);
    const { limitsKeyId, organizationId } = this.#call.key;
    this.#call.usage.record({ keyId: limitsKeyId, organizationId }, tokens, nowMs);
    this.#hold?.settle(cost === undefined ? 0 : Math.round(cost.total * billionths));
  }

  /** Ends the call as if it had never been admitted. Does nothing once it is settled. */
  cancel(): void {
    if (this.#settled) return;
    this.#settled = true;
    const nowMs = this.#call.now();
    this.#key.cancel(nowMs, this.#call.shared);
    this.#organization.cancel(nowMs, this.#call.shared);
    this.#hold?.settle(0);
  }

  /** The current `x-ratelimit-…` headers, of the limit with the least left, and those of budgets; none for what has no limit. */
  headers(): Record<string, string> {
    const headers = rateLimitHeaders([this.#key, this.#organization], this.#call.now());
    return this.#hold === undefined ? headers : { ...headers, ...this.#hold.headers() };
  }
}

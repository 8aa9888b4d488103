/** What this process took in advance of the shared limits of one key or organization, in one traffic class. */
import type { Limits } from "../../tenant.ts";
import { waitMs, type TokenBucket } from "../token-bucket.ts";
import { BucketLease, leaseMs } from "./bucket-lease.ts";
import type { ExchangeDraft } from "./exchange-draft.ts";
import { SlotLease } from "./slot-lease.ts";

/** The time by two clocks. */
export interface Times {
  /** Of a clock that never jumps, for leases. */
  readonly nowMs: number;
  /** For what is shown and compared over processes. */
  readonly unixMs: number;
}

/** What is known of a subject: the shared state, less what this process took in advance. */
export interface SubjectView {
  readonly requests: TokenBucket;
  readonly tokens: TokenBucket;
  readonly compute: TokenBucket;
  /** Calls in flight at other processes. */
  inFlightElsewhere: number;
}

/** What calls report after their admission. */
export interface LeaseReports {
  /** The subject has something to report. */
  activate(leases: SubjectLeases): void;
  /** A call of the subject ends. */
  end(leases: SubjectLeases): void;
}

export class SubjectLeases {
  readonly id: string;
  view: SubjectView;
  readonly requests: BucketLease;
  readonly tokens: BucketLease;
  /** Compute seconds are not taken in advance. To admit a call, the ledger's answer must be recent. */
  readonly compute: BucketLease;
  readonly #slots: SlotLease;
  #limits: Limits = {};

  constructor(id: string, view: SubjectView, slotLeaseMs: number) {
    this.id = id;
    this.view = view;
    this.requests = new BucketLease(`${this.id}:requests`);
    this.tokens = new BucketLease(`${this.id}:tokens`);
    this.compute = new BucketLease(`${this.id}:compute`);
    this.#slots = new SlotLease(`${this.id}:slots`, slotLeaseMs);
  }

  /** Whether a call can be admitted without asking. */
  has(limits: Limits, estimatedTokens: number, { nowMs, unixMs }: Times): boolean {
    const { tokens_per_minute: tokens, compute_seconds_per_minute: compute } = limits;
    if (limits.requests_per_minute !== undefined && !this.requests.has(1, nowMs)) return false;
    if (tokens !== undefined && !this.tokens.has(Math.min(estimatedTokens, tokens), nowMs)) return false;
    if (limits.concurrent_requests !== undefined && !this.#slots.has(nowMs)) return false;
    if (compute === undefined) return true;
    if (!this.compute.knownSince(nowMs, leaseMs)) return false;
    return waitMs(this.view.compute, compute, { amount: 0, nowMs: unixMs }) === 0;
  }

  /** Takes what `has` said is there. */
  take(limits: Limits, estimatedTokens: number): void {
    this.#limits = limits;
    if (limits.requests_per_minute !== undefined) this.requests.take(1);
    if (limits.tokens_per_minute === undefined) return;
    this.tokens.take(Math.min(estimatedTokens, limits.tokens_per_minute));
  }

  /** Adds a waiting call to the next exchange. */
  need(limits: Limits, estimatedTokens: number): void {
    this.#limits = limits;
    if (limits.requests_per_minute !== undefined) this.requests.need(1);
    if (limits.tokens_per_minute !== undefined) this.tokens.need(Math.min(estimatedTokens, limits.tokens_per_minute));
    if (limits.concurrent_requests !== undefined) this.#slots.need();
  }

  /** Asks for the state of these limits and nothing else. */
  watch(limits: Limits): void {
    this.#limits = limits;
  }

  /** A call begins, by whichever way it was admitted. */
  begin(): void {
    this.#slots.take();
  }

  /** @returns whether another process may need the slot now */
  end(): boolean {
    return this.#slots.release();
  }

  /** Whether answers of the ledger to these limits are at most this old. */
  isKnown(limits: Limits, nowMs: number, ageMs: number): boolean {
    return (
      (limits.requests_per_minute === undefined || this.requests.knownSince(nowMs, ageMs)) &&
      (limits.tokens_per_minute === undefined || this.tokens.knownSince(nowMs, ageMs)) &&
      (limits.compute_seconds_per_minute === undefined || this.compute.knownSince(nowMs, ageMs)) &&
      (limits.concurrent_requests === undefined || this.#slots.knownSince(nowMs, ageMs))
    );
  }

  /** Whether little is left for later calls. */
  isLow(limits: Limits, nowMs: number): boolean {
    return (
      (limits.requests_per_minute !== undefined && this.requests.isLow(nowMs)) ||
      (limits.tokens_per_minute !== undefined && this.tokens.isLow(nowMs))
    );
  }

  isDue(nowMs: number): boolean {
    return this.#buckets().some(({ lease }) => lease.isDue(nowMs)) || this.#slots.isDue(nowMs);
  }

  isIdle(nowMs: number): boolean {
    return this.#buckets().every(({ lease }) => lease.isIdle(nowMs)) && this.#slots.isIdle();
  }

  /** Adds everything to be reported to the exchange. */
  report(draft: ExchangeDraft, nowMs: number, times: () => Times): void {
    for (const { lease, perMinute, bucket } of this.#buckets()) {
      draft.addBucket(lease.request(perMinute, nowMs), (answer) => {
        lease.receive(answer, this.view[bucket], times());
      });
    }
    const limit = this.#limits.concurrent_requests;
    if (limit === undefined) return this.#slots.unlimit();
    draft.addSlots(this.#slots.request(limit, nowMs), (answer) => {
      this.#slots.receive(answer);
      this.view.inFlightElsewhere = answer.others;
    });
  }

  /** Gives back what no waiting call took. */
  returnGranted(): void {
    for (const { lease } of this.#buckets()) lease.returnGranted();
  }

  /** Forgets what is taken in advance and what was to be reported. */
  reset(): void {
    for (const lease of [this.requests, this.tokens, this.compute]) lease.reset();
    this.#slots.reset();
    this.view.inFlightElsewhere = 0;
  }

  /** Gives everything back, for the last exchange. */
  returnAll(nowMs: number): void {
    for (const { lease } of this.#buckets()) lease.returnAll(nowMs);
    this.#slots.returnAll();
  }

  /** Those that have a limit. */
  #buckets() {
    const { requests_per_minute, tokens_per_minute, compute_seconds_per_minute } = this.#limits;
    return [
      { lease: this.requests, bucket: "requests" as const, perMinute: requests_per_minute },
      { lease: this.tokens, bucket: "tokens" as const, perMinute: tokens_per_minute },
      { lease: this.compute, bucket: "compute" as const, perMinute: compute_seconds_per_minute },
    ].filter((each): each is typeof each & { perMinute: number } => each.perMinute !== undefined);
  }
}

/**
 * What this process knows of one ledger: what is used of the budget, what its running calls reserve, and what it may use
 * without asking. Amounts are whole billionths; times are of a clock that never jumps.
 */
import type { Budget } from "./budget.ts";
import type { CurrentPeriod } from "./budget-period.ts";
import type { LedgerAnswer, LedgerName, LedgerRequest } from "./budget-ledger.ts";

/** How long a process uses what it was granted without asking again. Other processes wait longer before they take it back. */
export const useMs = 20_000;
/** How long a process keeps a small part that it does not use: a key that is called now and then need not ask each time. */
const idleMs = 10_000;
/** Of what is left, a part that is small. Larger ones are given back at once. */
const smallShare = 1 / 64;
/** What is granted in advance suffices for so many calls like the last one. */
const callsAhead = 4;

type Requested = Pick<LedgerRequest, "charged" | "sequence">;

export class BudgetAccount {
  readonly name: LedgerName;
  /** Changes with the budget. */
  budget: Budget;
  /** By all processes, as far as it is known. */
  used = 0;
  /** Of this process's running calls. */
  reserved = 0;
  /** What other processes have for themselves. */
  others = 0;
  /** Whether the ledger has answered. */
  isKnown = false;
  isFull = false;
  /** The highest threshold that was reported, in percent. */
  notified = 0;
  /** Of `used`: not yet sent. */
  #unsent = 0;
  /** Sent, and not known to be written. */
  #sent: Requested | undefined;
  /** What may be reserved and unsent. */
  #held = 0;
  #answeredMs = -Infinity;
  #askedMs = -Infinity;
  #needed = 0;
  /** Reserved since the last request. */
  #recent = 0;
  /** By the last call. */
  #last = 0;
  /** When a request said last that calls had come. */
  #usedMs = -Infinity;

  constructor(name: LedgerName, budget: Budget) {
    this.name = name;
    this.budget = budget;
  }

  /** The amount that may not be exceeded. */
  get limit(): number {
    const { amount, enforced } = this.budget.definition;
    return enforced ? amount : Infinity;
  }

  /** Whether a call fits that may cost this much. @param alone whether no other process counts */
  has(amount: number, alone: boolean, nowMs: number): boolean {
    // Calls that cost nothing are never refused.
    if (amount === 0 || this.limit === Infinity) return true;
    if (!this.isKnown || this.isFull || this.used + this.reserved + amount > this.limit) return false;
    return alone || (this.reserved + this.#unsent + amount <= this.#held && nowMs - this.#answeredMs < useMs);
  }

  /** Whether the ledger answered a request that was sent at most `ageMs` ago. */
  wasAsked(nowMs: number, ageMs: number): boolean {
    return this.isKnown && nowMs - this.#answeredMs < ageMs;
  }

  reserve(amount: number): void {
    this.reserved += amount;
    this.#recent += amount;
    this.#last = amount;
  }

  settle(reserved: number, cost: number): void {
    this.reserved -= reserved;
    this.used += cost;
    this.#unsent += cost;
  }

  /** Adds a waiting call to the next request. */
  need(amount: number): void {
    this.#needed += amount;
  }

  /** The first threshold that is reached and was not reported. */
  get reachedThreshold(): number | undefined {
    const { amount, thresholds } = this.budget.definition;
    return thresholds.find((percent) => percent > this.notified && this.used >= (amount / 100) * percent);
  }

  /** Whether there is something to write, or what is granted has to be renewed or given back. */
  isDue(alone: boolean, nowMs: number): boolean {
    if (this.#unsent > 0 || this.#sent !== undefined || this.#needed > 0) return true;
    if (alone) return false;
    if (this.#recent > 0 || (this.#held > this.reserved && !this.#keeps(this.#held - this.reserved, nowMs)))
      return true;
    return this.reserved > 0 && nowMs - this.#askedMs > useMs / 4;
  }

  /** Whether it goes on with what it does not use. */
  #keeps(free: number, nowMs: number): boolean {
    return nowMs - this.#usedMs < idleMs && free <= (this.limit - this.used - this.others) * smallShare;
  }

  get isIdle(): boolean {
    return this.reserved === 0 && this.#unsent === 0 && this.#sent === undefined && this.#held === 0;
  }

  /** What was charged and may be lost if it is not written. */
  get unwritten(): number {
    return this.#unsent + (this.#sent?.charged ?? 0);
  }

  /** @param sequence greater than that of every request of this process @param isLast whether everything is given back */
  request(nowMs: number, sequence: number, isLast = false): LedgerRequest {
    const free = nowMs - this.#answeredMs < useMs ? Math.max(0, this.#held - this.reserved - this.#unsent) : 0;
    if (this.#recent > 0 || this.#needed > 0) this.#usedMs = nowMs;
    const ahead = callsAhead * Math.max(this.#needed, this.#recent > 0 ? this.#last : 0);
    const wanted = isLast ? 0 : Math.max(2 * this.#recent, ahead);
    const idle = !isLast && this.#keeps(free, nowMs) ? free : 0;
    const kept = Math.min(free, isLast ? 0 : Math.max(this.#needed + wanted, idle));
    const isRepeated = this.#sent !== undefined;
    if (this.#sent === undefined) {
      this.#sent = { charged: this.#unsent, sequence };
      this.#unsent = 0;
    }
    // What is given up must not be used while the request is on its way. What a repeated request does not charge stays held.
    this.#held = this.reserved + kept + this.#unsent;
    const demand = Math.max(0, this.#needed - kept);
    const spare = Math.max(0, wanted - Math.max(0, kept - this.#needed));
    this.#needed = 0;
    this.#recent = 0;
    this.#askedMs = nowMs;
    const { amount, thresholds } = this.budget.definition;
    return {
      ...this.name,
      ...this.#sent,
      isRepeated,
      isKnown: this.isKnown && !this.isFull,
      reserved: this.reserved,
      keeps: this.#held,
      demand,
      spare,
      limit: this.limit,
      thresholds: thresholds.map((percent) => ({ percent, amount: Math.round((amount / 100) * percent) })),
    };
  }

  receive({ held, isFull, notified, others, used }: LedgerAnswer): void {
    this.isKnown = true;
    this.isFull = isFull;
    this.#sent = undefined;
    this.used = used + this.#unsent;
    this.others = others;
    this.notified = notified;
    this.#held = held;
    this.#answeredMs = this.#askedMs;
  }
}

/** The accounts of a budget in its current period. */
export interface PeriodAccounts extends Omit<CurrentPeriod, "name"> {
  readonly period: string;
  readonly byValue: Map<string, BudgetAccount>;
}

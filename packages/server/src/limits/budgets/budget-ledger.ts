/** What processes ask of the one place that counts budgets for all of them, and its answers. */

/** Identifies what one value has of a budget in one period. */
export interface LedgerName {
  readonly budgetId: string;
  readonly organizationId: string;
  /** Of the period. */
  readonly period: string;
  /** UNIX milliseconds at which the period ends; Infinity: it does not. */
  readonly endMs: number;
  /** `""` where all values have one. */
  readonly value: string;
}

export interface LedgerRequest extends LedgerName {
  /** Grows with every request of the process about this ledger; one that is repeated has the same. */
  readonly sequence: number;
  /** Whether it may have been applied. */
  readonly isRepeated: boolean;
  /** Whether the ledger has counted requests about this name before. */
  readonly isKnown: boolean;
  /** Cost of calls since the last request. Added once, however often the request is repeated. */
  readonly charged: number;
  /** Of calls that are running. */
  readonly reserved: number;
  /** What the process has of the budget for itself and goes on using, `reserved` included. */
  readonly keeps: number;
  /** What waiting calls need on top, together. */
  readonly demand: number;
  /** What would be useful for later calls. Only a share of what is left is granted. */
  readonly spare: number;
  /** The amount of the budget; Infinity: it is not enforced, and everything is granted. */
  readonly limit: number;
  readonly thresholds: readonly { readonly percent: number; readonly amount: number }[];
}

export interface LedgerAnswer {
  /** By all processes, `charged` included. */
  readonly used: number;
  /** What other processes have for themselves. */
  readonly others: number;
  /** What the process may reserve and use until it asks again, `keeps` included. */
  readonly held: number;
  /** The highest percentage that was reported in this period; 0: none. */
  readonly notified: number;
  /** Thresholds that this request reached first. Nobody else reports them. */
  readonly reached: readonly number[];
  /** The budget has as many values as it may have; nothing was counted. */
  readonly isFull: boolean;
}

/** What one value has of a budget. */
export interface LedgerUse {
  readonly value: string;
  readonly used: number;
  /** By calls that were running when their processes wrote last. */
  readonly reserved: number;
}

export interface BudgetLedger {
  /**
   * Applies all requests in one transaction, and answers in the same order. After a failure they may have been applied:
   * they must be repeated. Each ledger at most once.
   */
  exchange(requests: readonly LedgerRequest[]): Promise<LedgerAnswer[]>;
  /** The values of the budget in this period that used most. */
  read(budgetId: string, period: string, most: number): Promise<{ sum: Omit<LedgerUse, "value">; values: LedgerUse[] }>;
}

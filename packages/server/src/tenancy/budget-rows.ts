/** The rows of budgets in the control database. */

/** A limit in money. */
export interface BudgetTable {
  id: string;
  organization_id: string;
  /** Unique in the organization. */
  name: string;
  /** JSON: the other members of the budget. */
  definition: string;
  created_at: number;
  updated_at: number;
}

/** What one value has used of a budget in one period, in billionths of the currency's unit. */
export interface BudgetUsageTable {
  budget_id: string;
  /** `month 2026-11-01`, `total`. */
  period: string;
  /** `""` where all values have one budget. */
  value: string;
  organization_id: string;
  used: number;
  /** The highest threshold that was reported, in percent. */
  notified: number;
  /** Of the period; null: it does not end. */
  ends_at: number | null;
}

/** What a process has of a budget for itself, in billionths of the currency's unit. */
export interface BudgetLeaseTable {
  budget_id: string;
  period: string;
  value: string;
  holder: string;
  /** Of the last request of the process that was applied. */
  sequence: number;
  /** By calls that are running. */
  reserved: number;
  held: number;
  /** UNIX milliseconds. */
  expires_at: number;
}

/**
 * The objects of the wire. Generated from the contract by `npm run generate`; do not edit.
 */

/** A budget, and what is used of it in the current period. */
export interface Budget {
  /** Always `budget`. */
  object: "budget";
  /** Identifier of the budget. */
  id: string;
  /** Identifier of the organization. */
  organization_id: string;
  /** Name of the budget, unique in the organization: 1 to 128 letters, digits, spaces and . _ / : @ -, starting with a letter or a digit. Errors and notifications have it. */
  name: string;
  /** How much may be spent in a period, in the currency's unit. Fractions smaller than a billionth are rounded. */
  amount: number;
  /** Whether calls that do not fit into the budget are refused with 429. False: the budget only reports its thresholds. */
  enforced: boolean;
  /** Percentages of the amount. When one is reached, it is reported once in the period. */
  thresholds: number[];
  /** What an enforced budget does with calls of models without a known price, whose cost it cannot count. Models of engines on the server's own machine that have no price count as free. */
  unpriced: "refuse" | "allow";
  /** Currency of the amount: its code in ISO 4217. It must be that of the server's prices, `telemetry.currency`. */
  currency: string;
  /** What the budget is for: calls of the whole organization, or of one or each project, API key, end user, model or tag. */
  subject: "organization" | "project" | "key" | "user" | "model" | "tag";
  /** The one project (its name), key (its identifier), end user, model (ID or alias) or value of the tag. Null: each one has the whole amount. Always null for an organization. */
  value: string | null;
  /** Name of the tag: a member of the `metadata` of requests, or a name in their header `x-tags`. Null unless `subject` is `tag`. */
  tag: string | null;
  /** Period of the calendar after which the budget starts again; weeks start on Monday. `total`: never. */
  period: "day" | "week" | "month" | "total";
  /** Time zone in which periods begin: an IANA name such as `Europe/Berlin`. */
  time_zone: string;
  /** Start of the current period, UNIX seconds; null if it has none. */
  period_starts_at: number | null;
  /** When the budget starts again, UNIX seconds; null if it does not. */
  resets_at: number | null;
  /** Whether an operator key created the budget. Only operator keys can change or delete it then. */
  operator: boolean;
  /** Cost of the calls that have ended, as far as servers have written it: they do so every 2 seconds. */
  used: number;
  /** What calls that are running may cost at most. */
  reserved: number;
  /** What is left; null if each value has its own. */
  remaining: number | null;
  /** The 100 values that have used the most; only of one budget for each value. */
  values?: {
    /** The project, key, end user, model or value of the tag. */
    value: string;
    /** Cost of the calls that have ended, as far as servers have written it: they do so every 2 seconds. */
    used: number;
    /** What calls that are running may cost at most. */
    reserved: number;
    /** What is left; null if each value has its own. */
    remaining: number | null;
  }[];
  /** Creation, UNIX seconds. */
  created_at: number;
  /** Last change, UNIX seconds. */
  updated_at: number;
}

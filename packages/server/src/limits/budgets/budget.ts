/** A budget as it applies to calls: which of them it counts, and in which period. Amounts are whole billionths of the unit. */
import type { BudgetPeriod, BudgetSubject } from "../../api/budgets.ts";
import type { PricedModel } from "../../pricing/prices.ts";
import type { CallUsage } from "../../pricing/token-usage.ts";
import type { CheckedKey } from "../../tenant.ts";
import { periodAt, type CurrentPeriod } from "./budget-period.ts";

/** A budget as it is stored. */
export interface BudgetDefinition {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly amount: number;
  readonly currency: string;
  readonly subject: BudgetSubject;
  /** Undefined: each value has the amount. */
  readonly value: string | undefined;
  /** The name of the tag, if that is the subject. */
  readonly tag: string | undefined;
  readonly period: BudgetPeriod;
  readonly timeZone: string;
  readonly enforced: boolean;
  /** Percentages, ascending. */
  readonly thresholds: readonly number[];
  readonly unpriced: "refuse" | "allow";
}

/** What a budget has to know of a call before it is made. */
export interface BudgetedCall {
  /** As the caller wrote it. */
  readonly model: string;
  readonly endUser?: string | undefined;
  /** The request's `metadata`, and the header `x-tags`. */
  readonly tags?: unknown;
  /** What it may use at most, as far as that is known. */
  readonly usage: CallUsage;
  /** How many answers it asks for without a limit to their tokens. */
  readonly unlimitedAnswers?: number | undefined;
  /** What it may go to, if that does not follow from the model. */
  readonly targets?: readonly PricedModel[] | undefined;
}

/** With what the model is an alias of, else the same. */
interface ResolvedCall extends BudgetedCall {
  readonly modelRoot: string;
}

/** The value of budgets that have one ledger. */
export const wholeBudget = "";

/** Longer values of a request count as one. */
const longestValue = 512;

export class Budget {
  readonly definition: BudgetDefinition;
  #period: CurrentPeriod | undefined;

  constructor(definition: BudgetDefinition) {
    this.definition = definition;
  }

  /** Whether each value has a ledger of its own. */
  get isForEach(): boolean {
    return this.definition.subject !== "organization" && this.definition.value === undefined;
  }

  periodAt(nowMs: number): CurrentPeriod {
    const { period, timeZone } = this.definition;
    const known = this.#period;
    // Also after the clock jumped back.
    if (known !== undefined && nowMs < known.endMs && nowMs >= (known.startMs ?? -Infinity)) return known;
    return (this.#period = periodAt(period, timeZone, nowMs));
  }

  /** The value whose ledger counts the call; undefined if the budget does not apply to it. */
  valueFor(call: ResolvedCall, key: CheckedKey, projectName: string): string | undefined {
    const { subject, value } = this.definition;
    if (subject === "organization") return wholeBudget;
    if (subject === "model" && value !== undefined) {
      return value === call.model || value === call.modelRoot ? wholeBudget : undefined;
    }
    const actual = this.#actual(call, key, projectName);
    if (value !== undefined) return value === actual ? wholeBudget : undefined;
    return actual === undefined ? undefined : storable(actual);
  }

  #actual(call: ResolvedCall, key: CheckedKey, projectName: string): string | undefined {
    switch (this.definition.subject) {
      case "key":
        return key.limitsKeyId;
      case "project":
        return projectName;
      case "model":
        return call.modelRoot;
      case "user":
        return call.endUser;
      default:
        return tagIn(call.tags, this.definition.tag ?? "");
    }
  }
}

/** As databases store and return it: half a surrogate pair cannot be in UTF-8, and Postgres has no text with NUL. */
function storable(value: string): string {
  return value.slice(0, longestValue).toWellFormed().replaceAll("\0", "\uFFFD");
}

/** Tags are texts; others might be anything. */
function tagIn(tags: unknown, name: string): string | undefined {
  if (typeof tags !== "object" || tags === null || !Object.hasOwn(tags, name)) return undefined;
  const value = (tags as Readonly<Record<string, unknown>>)[name];
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

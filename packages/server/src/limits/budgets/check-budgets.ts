/** Says why budgets refuse a call. The error names the budget, its amount and when it starts again. */
import { AppError } from "../../errors.ts";
import type { BudgetAccount } from "./budget-account.ts";
import type { Budget } from "./budget.ts";

interface Refusal {
  readonly code: "quota_exceeded" | "rate_limited";
  readonly message: string;
  /** Infinity: never. */
  readonly waitMs: number;
}

/** For budgets that only the end of another call frees, at an unknown time. */
const unknownWaitMs = 1_000;
const billionths = 1e9;

/** The error of the budget with the longest wait; undefined if the call fits into all. @param most what it may cost */
export function checkBudgets(accounts: readonly BudgetAccount[], most: number, nowMs: number): AppError | undefined {
  let longest: Refusal | undefined;
  for (const account of accounts) {
    const refusal = check(account, most, nowMs);
    if (refusal !== undefined && (longest === undefined || refusal.waitMs > longest.waitMs)) longest = refusal;
  }
  return longest && toError(longest);
}

/** The error for a call that does not fit because of what other processes keep for their calls. */
export function keptElsewhere(accounts: readonly BudgetAccount[]): AppError {
  const names = accounts.map(({ budget }) => nameOf(budget)).join(" or ");
  const message = `The rest of ${names} is in use by calls of other servers. Retry in 1s.`;
  return toError({ code: "rate_limited", message, waitMs: unknownWaitMs });
}

export function unpricedRefusal(budget: Budget, model: string): AppError {
  return new AppError(
    "quota_exceeded",
    `The model ${JSON.stringify(model)} has no known price, so ${nameOf(budget)} cannot count its calls and refuses them. An operator can configure its price (telemetry.token_prices; 0 if it is free), or set unpriced of the budget to "allow".`,
  );
}

export function unknownBudget(budget: Budget, cause: unknown): AppError {
  return new AppError("overloaded", `What is used of ${nameOf(budget)} cannot be read at the moment. Retry shortly.`, {
    retryAfterMs: unknownWaitMs,
    cause,
  });
}

function check(account: BudgetAccount, most: number, nowMs: number): Refusal | undefined {
  const { budget, limit, reserved, used } = account;
  if (most === 0 || limit === Infinity) return undefined;
  const name = nameOf(budget);
  const { endMs } = account.name;
  const again = endMs === Infinity ? "It does not start again automatically" : `It starts again at ${timeOf(endMs)}`;
  if (account.isFull) {
    const message = `${capitalized(name)} counts as many values as it can in this period, and this call has another one. ${again}.`;
    return { code: "quota_exceeded", message, waitMs: endMs - nowMs };
  }
  if (used >= limit) {
    const message = `${capitalized(name)} is used up: ${amountOf(used, budget)} of ${amountOf(limit, budget)}. ${again}.`;
    return { code: "quota_exceeded", message, waitMs: endMs - nowMs };
  }
  if (used + most > limit) {
    const message = `${capitalized(name)} has ${amountOf(limit - used, budget)} of ${amountOf(limit, budget)} left, and this call may cost ${amountOf(most, budget)}. ${again}. A call that limits its output, such as by max_tokens, may cost less.`;
    return { code: "quota_exceeded", message, waitMs: endMs - nowMs };
  }
  if (used + reserved + most <= limit) return undefined;
  const message = `Calls in progress may need the rest of ${name}: ${amountOf(used, budget)} of ${amountOf(limit, budget)} are used, and ${amountOf(reserved, budget)} are reserved. Retry when they have finished.`;
  return { code: "rate_limited", message, waitMs: unknownWaitMs };
}

function toError({ code, message, waitMs }: Refusal): AppError {
  return new AppError(code, message, waitMs === Infinity ? {} : { retryAfterMs: Math.ceil(waitMs) });
}

function nameOf({ definition }: Budget): string {
  return `the budget ${JSON.stringify(definition.name)}`;
}

function capitalized(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1)}`;
}

/** Exact, without an exponent and needless zeros. */
function amountOf(amount: number, { definition }: Budget): string {
  return `${(amount / billionths).toFixed(9).replace(/\.?0+$/, "")} ${definition.currency}`;
}

function timeOf(unixMs: number): string {
  return new Date(unixMs).toISOString().replace(".000", "");
}

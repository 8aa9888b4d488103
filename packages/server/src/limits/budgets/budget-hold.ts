/** What one call has reserved of budgets until it ends. */
import type { BudgetAccount } from "./budget-account.ts";
import type { BudgetExchange } from "./budget-exchange.ts";

export class BudgetHold {
  readonly #accounts: readonly BudgetAccount[];
  readonly #most: number;
  readonly #exchange: BudgetExchange;

  /** Reserves. @param most what the call may cost */
  constructor(accounts: readonly BudgetAccount[], most: number, exchange: BudgetExchange) {
    this.#accounts = accounts;
    this.#most = most;
    this.#exchange = exchange;
    for (const account of accounts) {
      account.reserve(most);
      exchange.activate(account);
    }
  }

  /** Replaces what was reserved by what the call cost. Must be called once. */
  settle(cost: number): void {
    for (const account of this.#accounts) {
      account.settle(this.#most, cost);
      if (cost > 0 && account.reachedThreshold !== undefined) this.#exchange.touch(account);
      else this.#exchange.activate(account);
    }
  }

  /** Of budgets of which a threshold was reached: names in percent-encoding. */
  headers(): Record<string, string> {
    const warnings = this.#accounts.flatMap(({ budget, used }) => {
      const { amount, name, thresholds } = budget.definition;
      const percent = Math.floor((used / amount) * 100);
      const reached = thresholds.findLast((each) => percent >= each);
      return reached === undefined ? [] : `${encodeURIComponent(name)};used=${percent};threshold=${reached}`;
    });
    return warnings.length === 0 ? {} : { "x-budget-warning": warnings.join(", ") };
  }
}

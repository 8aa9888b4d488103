/**
 * Budgets: limits in money. A call reserves what it may cost of every budget that counts it, and is charged what it costs when it
 * ends. Decisions are synchronous and in memory while what is known suffices.
 * docs/adr/0239-budgets.md
 */
import type { Logger } from "../../logger.ts";
import type { Payer, PricedModel } from "../../pricing/prices.ts";
import type { Scope } from "../../tenant.ts";
import { BudgetAccount, type PeriodAccounts } from "./budget-account.ts";
import { withOwnUse } from "./budget-use.ts";
import { BudgetExchange } from "./budget-exchange.ts";
import { BudgetHold } from "./budget-hold.ts";
import type { BudgetLedger, LedgerUse } from "./budget-ledger.ts";
import { checkBudgets, keptElsewhere, unknownBudget, unpricedRefusal } from "./check-budgets.ts";
import { Budget, wholeBudget, type BudgetDefinition, type BudgetedCall } from "./budget.ts";

/** A threshold that was reached. Amounts are in the currency's unit. */
export interface ReachedThreshold {
  readonly budget: BudgetDefinition;
  /** `""`, or the one of the values that has reached it. */
  readonly value: string;
  /** Its name, such as `month 2026-11-01`. */
  readonly period: string;
  readonly percent: number;
  readonly used: number;
  readonly amount: number;
}

export interface CallTargets {
  /** What the model is an alias of, else the same. */
  readonly root: string;
  readonly targets: readonly PricedModel[];
}

export interface BudgetsOptions {
  readonly ledger: BudgetLedger;
  /** All budgets of all organizations. */
  readonly load: () => Promise<readonly BudgetDefinition[]>;
  /** Whether no other process uses the ledger. */
  readonly alone: boolean;
  /** Of the prices. Budgets in another currency cannot count. */
  readonly currency: string;
  readonly logger: Logger;
  /** What calls of a model may go to, with fallbacks. */
  readonly targetsOf: (model: string) => CallTargets;
  /** What a call may cost that goes to one of these; undefined if one has no price. */
  readonly mostCost: (payer: Payer, targets: readonly PricedModel[], call: BudgetedCall) => number | undefined;
  readonly onThreshold: (reached: ReachedThreshold) => void;
  /** UNIX milliseconds; absent: the system's clock. */
  readonly now?: (() => number) | undefined;
  readonly intervalMs?: number | undefined;
}

/** What is used of a budget in the current period. Amounts are whole billionths. */
export interface BudgetUse {
  readonly startMs: number | undefined;
  readonly endMs: number;
  readonly sum: Omit<LedgerUse, "value">;
  readonly values: readonly LedgerUse[];
}

const billionths = 1e9;
/** An answer of the ledger that is older does not refuse a call: others may have given something back since. */
const refusingAgeMs = 50;
/** How often a call asks the ledger at most. */
const maxAttempts = 4;
/** Budgets may change on another server, or by a command. */
const reloadMs = 5_000;
export const shownValues = 100;
/** Accounts in memory; idle ones are evicted. */
const maxAccounts = 100_000;
/** More than one per insert, so that evictions keep up with inserts. */
const checkedPerInsert = 4;

export class Budgets {
  readonly #options: BudgetsOptions;
  readonly #now: () => number;
  readonly #exchange: BudgetExchange;
  #byOrganization = new Map<string, Budget[]>();
  readonly #byId = new Map<string, Budget>();
  /** By budget, then by value; of the period that is the current one of the accounts. */
  readonly #accounts = new Map<string, PeriodAccounts>();
  /** Of all budgets, in the order in which they are considered for eviction. */
  readonly #all = new Set<BudgetAccount>();
  #timer: NodeJS.Timeout | undefined;
  #loading: Promise<void> | undefined;
  #isStale = false;

  private constructor(options: BudgetsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    const { alone, intervalMs, ledger, logger } = options;
    const onThreshold = (account: BudgetAccount, percent: number): void => this.#report(account, percent);
    const onFull = (account: BudgetAccount): void => this.#forget(account);
    this.#exchange = new BudgetExchange({ ledger, logger, alone, onThreshold, onFull, intervalMs });
  }

  /** @throws what `load` throws */
  static async open(options: BudgetsOptions): Promise<Budgets> {
    const budgets = new Budgets(options);
    await budgets.#load();
    budgets.#timer = setInterval(() => void budgets.reload(), reloadMs).unref();
    return budgets;
  }

  /** Loads the budgets again. A failure is logged, and the ones known before stay in use. */
  reload(): Promise<void> {
    this.#isStale = true;
    this.#loading ??= this.#reloadWhileStale().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  /** Whether budgets may count the organization's calls. */
  appliesTo(organizationId: string): boolean {
    return this.#byOrganization.has(organizationId);
  }

  /**
   * Reserves what a call may cost. A promise only if the ledger has to be asked.
   * @returns undefined if no budget counts the call
   * @throws AppError quota_exceeded or rate_limited, with the time to wait; overloaded if what is used is not known
   */
  reserve(scope: Scope, call: BudgetedCall): BudgetHold | undefined | Promise<BudgetHold> {
    const { root, targets } = this.#options.targetsOf(call.model);
    const accounts = this.#accountsFor(scope, { ...call, modelRoot: root });
    if (accounts.length === 0) return undefined;
    const mostCost = this.#options.mostCost(scope.key, call.targets ?? targets, call);
    const most = this.#mostCost(accounts, call.model, mostCost);
    const nowMs = performance.now();
    const { alone } = this.#options;
    if (accounts.every((account) => account.has(most, alone, nowMs))) return this.#hold(accounts, most);
    if (accounts.every((account) => alone || account.wasAsked(nowMs, refusingAgeMs))) {
      const refusal = accounts.every(({ isKnown }) => isKnown) ? checkBudgets(accounts, most, this.#now()) : undefined;
      if (refusal !== undefined) throw refusal;
    }
    return this.#ask(accounts, most);
  }

  /**
   * What is used of a budget, with what this process has not written yet. Only reads the ledger: a change that is being recorded
   * may hold the connection that a write would need.
   * @throws what the ledger throws
   */
  async useOf(definition: BudgetDefinition): Promise<BudgetUse> {
    const { endMs, name, startMs } = (this.#byId.get(definition.id) ?? new Budget(definition)).periodAt(this.#now());
    const { sum, values } = await this.#options.ledger.read(definition.id, name, shownValues);
    const known = this.#accounts.get(definition.id);
    const own = known?.period === name ? known.byValue : new Map<string, BudgetAccount>();
    return { startMs, endMs, ...withOwnUse({ sum, values }, own, this.#options.alone) };
  }

  /** What is known of budgets that have one ledger, and that were asked in their current period. Whole billionths. */
  current(): { readonly budget: BudgetDefinition; readonly period: string; readonly used: number }[] {
    return [...this.#accounts.values()].flatMap(({ byValue, period }) => {
      const account = byValue.get(wholeBudget);
      const isCurrent = account?.isKnown === true && account.budget.periodAt(this.#now()).name === period;
      return isCurrent ? [{ budget: account.budget.definition, period, used: account.used }] : [];
    });
  }

  /** Writes everything, and gives back what is held. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#loading;
    await this.#exchange.close();
  }

  #mostCost(accounts: readonly BudgetAccount[], model: string, most: number | undefined): number {
    const refusing = accounts.find(
      ({ budget: { definition } }) =>
        definition.enforced &&
        definition.unpriced === "refuse" &&
        (most === undefined || definition.currency !== this.#options.currency),
    );
    // What costs nothing costs nothing in every currency.
    if (refusing !== undefined && most !== 0) throw unpricedRefusal(refusing.budget, model);
    return most ?? 0;
  }

  #hold(accounts: readonly BudgetAccount[], most: number): BudgetHold {
    const counting = accounts.filter(({ budget }) => budget.definition.currency === this.#options.currency);
    return new BudgetHold(counting, most, this.#exchange);
  }

  async #ask(accounts: readonly BudgetAccount[], most: number): Promise<BudgetHold> {
    const { alone } = this.#options;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      await Promise.all(accounts.map((account) => this.#askAbout(account, most)));
      if (accounts.every((account) => account.has(most, alone, performance.now()))) return this.#hold(accounts, most);
      const refusal = checkBudgets(accounts, most, this.#now());
      if (refusal !== undefined) throw refusal;
    }
    throw keptElsewhere(accounts);
  }

  async #askAbout(account: BudgetAccount, most: number): Promise<void> {
    if (account.has(most, this.#options.alone, performance.now())) return;
    account.need(most);
    try {
      await this.#exchange.ask(account);
    } catch (error) {
      if (!account.isKnown || !this.#options.alone) throw unknownBudget(account.budget, error);
    }
  }

  #accountsFor({ key, organizationId, projectName }: Scope, call: Parameters<Budget["valueFor"]>[0]): BudgetAccount[] {
    const nowMs = this.#now();
    const accounts: BudgetAccount[] = [];
    for (const budget of this.#byOrganization.get(organizationId) ?? []) {
      const value = budget.valueFor(call, key, projectName);
      if (value !== undefined) accounts.push(this.#account(budget, value, nowMs));
    }
    return accounts;
  }

  #account(budget: Budget, value: string, nowMs: number): BudgetAccount {
    const { id: budgetId, organizationId } = budget.definition;
    const { endMs, name, startMs } = budget.periodAt(nowMs);
    let known = this.#accounts.get(budgetId);
    // Running calls keep the accounts of their period. After a jump back of the clock, calls stay in the later one.
    if (known === undefined || (known.period !== name && nowMs >= (known.startMs ?? 0))) {
      known = { period: name, startMs, endMs, byValue: new Map() };
      this.#accounts.set(budgetId, known);
    }
    const found = known.byValue.get(value);
    if (found !== undefined) return found;
    const ledger = { budgetId, organizationId, period: known.period, endMs: known.endMs, value };
    const account = new BudgetAccount(ledger, budget);
    known.byValue.set(value, account);
    this.#evict();
    this.#all.add(account);
    return account;
  }

  #forget(account: BudgetAccount): void {
    this.#all.delete(account);
    const known = this.#accounts.get(account.name.budgetId);
    if (known?.byValue.get(account.name.value) === account) known.byValue.delete(account.name.value);
  }

  #evict(): void {
    let checked = 0;
    for (const account of this.#all) {
      if (checked++ === checkedPerInsert) return;
      const isCurrent = this.#accounts.get(account.name.budgetId)?.period === account.name.period;
      this.#all.delete(account);
      if (!isCurrent) continue;
      // Moved to the end, so that the next check starts with another one.
      if (this.#all.size < maxAccounts || this.#exchange.isActive(account)) this.#all.add(account);
      else this.#forget(account);
    }
  }

  async #reloadWhileStale(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false;
      try {
        await this.#load();
      } catch (error) {
        this.#options.logger.warn(
          { error },
          "the budgets could not be loaded again; the ones known before stay in use",
        );
      }
    }
  }

  async #load(): Promise<void> {
    const definitions = await this.#options.load();
    const known = new Set(definitions.map(({ id }) => id));
    for (const id of this.#byId.keys()) {
      if (known.has(id)) continue;
      this.#byId.delete(id);
      this.#accounts.delete(id);
    }
    this.#byOrganization = new Map();
    for (const definition of definitions) {
      const budget = new Budget(definition);
      this.#byId.set(definition.id, budget);
      const others = this.#byOrganization.get(definition.organizationId);
      if (others === undefined) this.#byOrganization.set(definition.organizationId, [budget]);
      else others.push(budget);
      for (const account of this.#accounts.get(definition.id)?.byValue.values() ?? []) account.budget = budget;
    }
  }

  #report({ budget, name, used }: BudgetAccount, percent: number): void {
    const { amount } = budget.definition;
    this.#options.onThreshold({
      budget: budget.definition,
      value: name.value,
      period: name.period,
      percent,
      used: used / billionths,
      amount: amount / billionths,
    });
  }
}

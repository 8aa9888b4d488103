/**
 * Exchanges what calls cost, and what this process may use, with the ledger of budgets: one exchange at a time, for many accounts.
 * What was charged is written within two seconds; what could not be written is kept and sent again.
 */
import type { Logger } from "../../logger.ts";
import type { BudgetAccount } from "./budget-account.ts";
import type { BudgetLedger } from "./budget-ledger.ts";

export interface ExchangeOptions {
  readonly ledger: BudgetLedger;
  readonly logger: Logger;
  /** Whether no other process uses the ledger. */
  readonly alone: boolean;
  /** Called for every threshold that this process was the first to reach. */
  readonly onThreshold: (account: BudgetAccount, percent: number) => void;
  /** Called for an account that the ledger does not count, because its budget has too many. */
  readonly onFull: (account: BudgetAccount) => void;
  readonly intervalMs?: number | undefined;
}

/** A call that waits for the ledger. */
interface Waiter {
  readonly answered: () => void;
  readonly failed: (error: unknown) => void;
}

const defaultIntervalMs = 2_000;
/** Keeps a transaction short: SQLite runs in this thread. */
const mostPerExchange = 256;
/** A broken connection must not lose what is written last. */
const closingAttempts = 3;

export class BudgetExchange {
  readonly #options: ExchangeOptions;
  /** Accounts that hold something or have something to write. */
  readonly #active = new Set<BudgetAccount>();
  /** Of the next exchange. */
  readonly #touched = new Set<BudgetAccount>();
  readonly #waiters = new Map<BudgetAccount, Waiter[]>();
  #sequence = 0;
  #running: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isScheduled = false;
  #isFailing = false;
  #isClosed = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  /** The account is part of the regular exchanges until nothing of it is left to report. */
  activate(account: BudgetAccount): void {
    this.#active.add(account);
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => this.#onTimer(), this.#options.intervalMs ?? defaultIntervalMs).unref();
  }

  /** The account is part of the next exchange, which begins at once or after the one that is running. */
  touch(account: BudgetAccount): void {
    this.activate(account);
    this.#touched.add(account);
    this.#schedule();
  }

  isActive(account: BudgetAccount): boolean {
    return this.#active.has(account);
  }

  /** Waits for the ledger's answer about an account, which is asked for after this. @throws what the ledger throws */
  ask(account: BudgetAccount): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { answered: resolve, failed: reject };
    const waiting = this.#waiters.get(account);
    if (waiting === undefined) this.#waiters.set(account, [waiter]);
    else waiting.push(waiter);
    this.touch(account);
    return promise;
  }

  /** Writes everything, and gives back what is held. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
    for (let failures = 0; this.#active.size > 0 && failures < closingAttempts;) {
      for (const account of [...this.#active].slice(0, mostPerExchange)) this.#touched.add(account);
      await this.#exchange();
      if (this.#isFailing) failures += 1;
    }
    const lost = [...this.#active].filter(({ unwritten }) => unwritten > 0);
    if (lost.length === 0) return;
    const cost = lost.reduce((sum, { unwritten }) => sum + unwritten, 0) / 1e9;
    this.#options.logger.error(
      { budgets: lost.length, cost },
      "costs could not be counted in budgets before shutdown and are lost",
    );
  }

  /** Calls of the same turn of the event loop share an exchange. */
  #schedule(): void {
    if (this.#isScheduled || this.#running !== undefined || this.#isClosed) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#begin();
    });
  }

  #begin(): void {
    if (this.#running !== undefined || this.#isClosed || this.#touched.size === 0) return;
    this.#running = this.#exchange().finally(() => {
      this.#running = undefined;
      if (this.#touched.size > 0 && !this.#isFailing) this.#schedule();
    });
  }

  #onTimer(): void {
    this.#timer = undefined;
    const nowMs = performance.now();
    for (const account of this.#active) {
      if (account.isDue(this.#options.alone, nowMs)) this.#touched.add(account);
      else if (account.isIdle) this.#active.delete(account);
    }
    this.#begin();
    const [first] = this.#active;
    if (first !== undefined) this.activate(first);
  }

  /** Never rejects. */
  async #exchange(): Promise<void> {
    // Calls that wait come before what is only written.
    const accounts = [...new Set([...this.#waiters.keys(), ...this.#touched])].slice(0, mostPerExchange);
    const waiters = accounts.map((account) => this.#waiters.get(account) ?? []);
    const startedMs = performance.now();
    const isLast = this.#isClosed;
    const requests = accounts.map((account) => account.request(startedMs, ++this.#sequence, isLast));
    for (const account of accounts) {
      this.#touched.delete(account);
      this.#waiters.delete(account);
    }
    try {
      const answers = await this.#options.ledger.exchange(requests);
      for (const [index, account] of accounts.entries()) account.receive(answers[index]!);
      this.#recover();
      for (const waiter of waiters.flat()) waiter.answered();
      for (const [index, account] of accounts.entries()) {
        for (const percent of answers[index]!.reached) this.#options.onThreshold(account, percent);
        if (account.isFull) this.#options.onFull(account);
        // Running calls that outlive the server are charged by nobody.
        if (account.isIdle || (isLast && account.unwritten === 0)) this.#active.delete(account);
      }
    } catch (error) {
      if (!this.#isFailing) {
        this.#options.logger.warn(
          { error, budgets: accounts.length },
          "the use of budgets could not be written; trying again",
        );
      }
      this.#isFailing = true;
      for (const waiter of waiters.flat()) waiter.failed(error);
    }
  }

  #recover(): void {
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#options.logger.info({}, "the use of budgets can be written again");
  }
}

/**
 * Counts the tokens used in the current calendar month (UTC), by key and by organization. Totals are in memory. New
 * usage is written to a ledger every few seconds and at shutdown; the ledger's totals, which other processes add to, are
 * read again periodically.
 */
import type { Logger } from "../logger.ts";

/** Tokens that a key used in a calendar month (UTC). */
export interface UsageEntry {
  readonly organizationId: string;
  readonly keyId: string;
  /** `YYYY-MM` */
  readonly month: string;
  readonly tokens: number;
}

/** Where usage is stored. */
export interface UsageLedger {
  /** Adds all entries or, if it fails, none. */
  add(entries: readonly UsageEntry[]): Promise<void>;
  /** The entries of one month, one per key. */
  read(month: string): Promise<readonly UsageEntry[]>;
}

/** Who used tokens. */
export interface UsageOwner {
  readonly keyId: string;
  readonly organizationId: string;
}

export interface MonthlyUsageOptions {
  readonly ledger: UsageLedger;
  readonly logger: Logger;
  /** UNIX milliseconds; absent: the system's clock. */
  readonly now?: () => number;
  readonly flushIntervalMs?: number;
  readonly refreshIntervalMs?: number;
}

/** The calendar month (UTC) of a time. */
export function monthAt(nowMs: number): Month {
  const now = new Date(nowMs);
  return {
    name: now.toISOString().slice(0, 7),
    endUnixMs: Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1),
  };
}

function add(totals: Map<string, number>, id: string, tokens: number): void {
  totals.set(id, (totals.get(id) ?? 0) + tokens);
}

interface Month {
  /** `YYYY-MM` */
  readonly name: string;
  /** When the next month begins. */
  readonly endUnixMs: number;
}

/** Tokens by key and by organization. Create it with `MonthlyUsage.open`, and close it. */
export class MonthlyUsage {
  readonly #ledger: UsageLedger;
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #flushIntervalMs: number;
  readonly #refreshIntervalMs: number;
  #month: Month;
  #keyTotals = new Map<string, number>();
  #organizationTotals = new Map<string, number>();
  /** Not yet in the ledger: this month's usage by key, and that of months that ended. */
  #unwritten = new Map<string, { owner: UsageOwner; tokens: number }>();
  #sealed: UsageEntry[] = [];
  #timer: NodeJS.Timeout | undefined;
  #lastReadMs = 0;
  /** Serializes the operations on the ledger. */
  #lastOperation: Promise<void> = Promise.resolve();
  #pendingWork = 0;

  private constructor(options: MonthlyUsageOptions) {
    this.#ledger = options.ledger;
    this.#logger = options.logger;
    this.#now = options.now ?? Date.now;
    this.#flushIntervalMs = options.flushIntervalMs ?? 5_000;
    this.#refreshIntervalMs = options.refreshIntervalMs ?? 60_000;
    this.#month = monthAt(this.#now());
  }

  /**
   * Reads the month's totals and starts writing to the ledger.
   * @throws what the ledger throws if it cannot be read
   */
  static async open(options: MonthlyUsageOptions): Promise<MonthlyUsage> {
    const usage = new MonthlyUsage(options);
    await usage.#readTotals();
    usage.#timer = setInterval(() => {
      if (usage.#pendingWork > 0) return;
      const due = usage.#now() - usage.#lastReadMs >= usage.#refreshIntervalMs;
      void (due ? usage.refresh() : usage.flush());
    }, usage.#flushIntervalMs).unref();
    return usage;
  }

  /** The month of this time. */
  month(nowMs: number): Month {
    if (nowMs >= this.#month.endUnixMs) this.#beginMonth(nowMs);
    return this.#month;
  }

  keyTokens(keyId: string, nowMs: number): number {
    this.month(nowMs);
    return this.#keyTotals.get(keyId) ?? 0;
  }

  organizationTokens(organizationId: string, nowMs: number): number {
    this.month(nowMs);
    return this.#organizationTotals.get(organizationId) ?? 0;
  }

  record(owner: UsageOwner, tokens: number, nowMs: number): void {
    if (tokens <= 0) return;
    this.month(nowMs);
    add(this.#keyTotals, owner.keyId, tokens);
    add(this.#organizationTotals, owner.organizationId, tokens);
    const entry = this.#unwritten.get(owner.keyId);
    if (entry === undefined) this.#unwritten.set(owner.keyId, { owner, tokens });
    else entry.tokens += tokens;
  }

  /** Writes new usage to the ledger. A failure is logged, and the entries are kept for the next attempt. */
  flush(): Promise<void> {
    return this.#enqueue(() => this.#write());
  }

  /** Writes new usage, then reads the ledger's totals. */
  refresh(): Promise<void> {
    return this.#enqueue(async () => {
      await this.#write();
      await this.#readTotals();
    });
  }

  /** Writes new usage one last time. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
    const lost = this.#takeUnwritten();
    if (lost.length > 0) {
      const tokens = lost.reduce((sum, entry) => sum + entry.tokens, 0);
      this.#logger.error({ keys: lost.length, tokens }, "token usage could not be saved before shutdown and is lost");
    }
  }

  /** Replaces the totals by the ledger's, plus what is not yet in it. */
  async #readTotals(): Promise<void> {
    const month = this.month(this.#now()).name;
    const entries = await this.#ledger.read(month);
    this.#lastReadMs = this.#now();
    if (this.month(this.#lastReadMs).name !== month) return;
    this.#keyTotals = new Map();
    this.#organizationTotals = new Map();
    const unwritten = [...this.#unwritten.values()].map(({ owner, tokens }) => ({ ...owner, tokens }));
    for (const { keyId, organizationId, tokens } of [...entries, ...unwritten]) {
      add(this.#keyTotals, keyId, tokens);
      add(this.#organizationTotals, organizationId, tokens);
    }
  }

  #beginMonth(nowMs: number): void {
    this.#sealed = this.#takeUnwritten();
    this.#keyTotals = new Map();
    this.#organizationTotals = new Map();
    this.#month = monthAt(nowMs);
  }

  #takeUnwritten(): UsageEntry[] {
    const month = this.#month.name;
    const entries = [...this.#unwritten.values()].map(({ owner, tokens }) => ({
      organizationId: owner.organizationId,
      keyId: owner.keyId,
      month,
      tokens,
    }));
    const all = [...this.#sealed, ...entries];
    this.#sealed = [];
    this.#unwritten = new Map();
    return all;
  }

  async #write(): Promise<void> {
    const entries = this.#takeUnwritten();
    if (entries.length === 0) return;
    try {
      await this.#ledger.add(entries);
    } catch (error) {
      this.#putBack(entries);
      this.#logger.warn({ error, keys: entries.length }, "token usage could not be saved; it will be retried shortly");
    }
  }

  /** Queues entries that were not written again; the totals include them already. */
  #putBack(entries: readonly UsageEntry[]): void {
    for (const entry of entries) {
      const waiting = this.#unwritten.get(entry.keyId);
      if (entry.month !== this.#month.name) this.#sealed.push(entry);
      else if (waiting === undefined) this.#unwritten.set(entry.keyId, { owner: entry, tokens: entry.tokens });
      else waiting.tokens += entry.tokens;
    }
  }

  async #enqueue(operation: () => Promise<void>): Promise<void> {
    this.#pendingWork += 1;
    this.#lastOperation = this.#lastOperation.then(operation).catch((error: unknown) => {
      this.#logger.warn({ error }, "token usage totals could not be read; the last known totals stay in use");
    });
    await this.#lastOperation;
    this.#pendingWork -= 1;
  }
}

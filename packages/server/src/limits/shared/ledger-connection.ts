/**
 * Exchanges leases with the ledger: one exchange at a time, which carries what all subjects have to report. Notices when the
 * ledger is unreachable, and tries again with backoff.
 */
import { randomUUID } from "node:crypto";
import { isNativeError } from "node:util/types";
import type { Logger } from "../../logger.ts";
import { leaseMs } from "./bucket-lease.ts";
import { ExchangeDraft } from "./exchange-draft.ts";
import type { LedgerAnswer, LimitLedger } from "./limit-ledger.ts";
import type { SubjectLeases, Times } from "./subject-leases.ts";

export interface ConnectionOptions {
  readonly ledger: LimitLedger;
  readonly timeoutMs: number;
  readonly logger: Logger;
  readonly observer?: ExchangeObserver | undefined;
  readonly now?: () => number;
  readonly slotLeaseMs: number;
}

/** Metrics of the exchanges. */
export interface ExchangeObserver {
  observeExchange(outcome: "ok" | "failed", durationMs: number): void;
}

/** A call that waits for an exchange that was not sent yet. */
export interface Waiter {
  /** After the answer. */
  retry(): void;
  /** If the ledger is unreachable. */
  fail(): void;
}

const tickMs = leaseMs / 4;
/** Subjects of one regular exchange, which keeps it short; the others follow with the next. */
const mostPerExchange = 500;
/** Subjects of an exchange that finds out whether the ledger can be reached. */
const mostProbed = 16;
const shortestBackoffMs = 100;
const longestBackoffMs = 5_000;

export class LedgerConnection {
  readonly #ledger: LimitLedger;
  readonly #timeoutMs: number;
  readonly #slotLeaseMs: number;
  readonly #logger: Logger;
  readonly #observer: ExchangeObserver | undefined;
  readonly now: () => number;
  readonly #holder = randomUUID();
  #sequence = 0;
  /** Subjects that hold something or have something to report. */
  readonly #active = new Map<string, SubjectLeases>();
  /** Subjects of the next exchange. */
  #touched = new Set<SubjectLeases>();
  #waiters: Waiter[] = [];
  #running: Promise<void> | undefined;
  #scheduled = false;
  #timer: NodeJS.Timeout | undefined;
  #problem: string | undefined;
  #backoffMs = shortestBackoffMs;
  #closed = false;

  constructor(options: ConnectionOptions) {
    this.#ledger = options.ledger;
    this.#timeoutMs = options.timeoutMs;
    this.#slotLeaseMs = options.slotLeaseMs;
    this.#logger = options.logger;
    this.#observer = options.observer;
    this.now = options.now ?? Date.now;
  }

  get reachable(): boolean {
    return this.#problem === undefined;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  activeLeases(id: string): SubjectLeases | undefined {
    return this.#active.get(id);
  }

  /** The subject is part of the regular exchanges until nothing of it is left to report. */
  activate(leases: SubjectLeases): void {
    if (this.#active.get(leases.id) !== leases) this.#active.set(leases.id, leases);
    if (this.#timer === undefined) this.#startTimer(tickMs);
  }

  /** The subject is part of the next exchange, which begins at once or after the one that is running. */
  touch(leases: SubjectLeases): void {
    this.activate(leases);
    this.#touched.add(leases);
    this.#schedule();
  }

  /** Waits for an exchange with what was touched before. */
  wait(waiter: Waiter): void {
    this.#waiters.push(waiter);
    this.#schedule();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#running;
    if (this.reachable && this.#active.size > 0) {
      for (const leases of this.#active.values()) {
        leases.returnAll(performance.now());
        this.#touched.add(leases);
      }
      await this.#exchange();
    }
    await this.#ledger.close();
  }

  readonly #times = (): Times => ({ nowMs: performance.now(), unixMs: this.now() });

  /** Calls of the same turn of the event loop share an exchange. */
  #schedule(): void {
    if (this.#scheduled || this.#running !== undefined || this.#closed || !this.reachable) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#begin();
    });
  }

  #begin(): void {
    if (this.#running !== undefined || this.#closed) return;
    this.#running = this.#exchange().finally(() => {
      this.#running = undefined;
      if (this.#waiters.length > 0 || this.#touched.size > 0) this.#schedule();
    });
  }

  #startTimer(afterMs: number): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#onTimer();
    }, afterMs).unref();
  }

  #onTimer(): void {
    const nowMs = performance.now();
    const most = this.reachable ? mostPerExchange : mostProbed;
    for (const [id, leases] of this.#active) {
      const isDue = leases.isDue(nowMs);
      if (isDue && this.#touched.size < most) this.#touched.add(leases);
      else if (!isDue && leases.isIdle(nowMs)) {
        leases.reset();
        this.#active.delete(id);
      }
    }
    if (!this.reachable || this.#touched.size > 0) this.#begin();
    if (this.reachable && this.#active.size > 0) this.#startTimer(tickMs);
  }

  /** Never rejects. */
  async #exchange(): Promise<void> {
    const [touched, waiters] = [this.#touched, this.#waiters];
    this.#touched = new Set();
    this.#waiters = [];
    const startedMs = performance.now();
    const draft = new ExchangeDraft();
    for (const leases of touched) leases.report(draft, startedMs, this.#times);
    try {
      draft.receive(await this.#send(draft));
    } catch (error) {
      this.#observer?.observeExchange("failed", performance.now() - startedMs);
      this.#fail(error, waiters);
      return;
    }
    this.#observer?.observeExchange("ok", performance.now() - startedMs);
    this.#recover();
    for (const waiter of waiters) waiter.retry();
    for (const leases of touched) leases.returnGranted();
  }

  async #send({ buckets, slots }: ExchangeDraft): Promise<LedgerAnswer> {
    const { promise: timedOut, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      // An answer that arrived while the main thread was busy is read first.
      setImmediate(() => setImmediate(() => reject(new Error(`It did not answer within ${this.#timeoutMs} ms.`))));
    }, this.#timeoutMs);
    this.#sequence += 1;
    const frame = { holder: this.#holder, sequence: this.#sequence, leaseMs, slotLeaseMs: this.#slotLeaseMs };
    try {
      return await Promise.race([this.#ledger.exchange({ ...frame, buckets, slots }), timedOut]);
    } finally {
      clearTimeout(timer);
    }
  }

  #fail(error: unknown, waiters: readonly Waiter[]): void {
    const message = isNativeError(error) ? error.message : String(error);
    if (this.reachable) {
      this.#logger.warn({ error }, "the backend of the shared limits cannot be reached; trying again");
      this.#backoffMs = shortestBackoffMs;
    }
    this.#problem = `The backend of the shared limits cannot be reached: ${message}`;
    for (const leases of this.#active.values()) leases.reset();
    this.#touched.clear();
    clearTimeout(this.#timer);
    this.#startTimer(this.#backoffMs * (0.5 + Math.random() / 2));
    this.#backoffMs = Math.min(longestBackoffMs, this.#backoffMs * 2);
    const all = [...waiters, ...this.#waiters];
    this.#waiters = [];
    for (const waiter of all) waiter.fail();
  }

  #recover(): void {
    if (this.reachable) return;
    this.#problem = undefined;
    this.#logger.info({}, "the backend of the shared limits can be reached again");
    if (!this.#closed && this.#timer === undefined) this.#startTimer(tickMs);
  }
}

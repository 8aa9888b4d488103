/**
 * Monitors whether the store is ready: reachable, and migrated to this version's schema. Checks every few seconds, and
 * restarts an embedded engine that no longer responds.
 */
import { abortable, sleep } from "../abort.ts";
import { AppError } from "../errors.ts";
import type { Logger } from "../logger.ts";
import type { Connection } from "./connection.ts";
import { migrate } from "./migrations.ts";
import { damagedCodes, StoreError } from "./store-error.ts";
import type { StoreState } from "./store.ts";
import type { Layout } from "./table-layout.ts";

export interface WatchedStore {
  readonly connection: Connection;
  readonly layout: Layout;
  readonly engine: { restart(): void } | undefined;
}

/** The embedded engine is on the same machine, and its pings wait for no statement. */
const pace = {
  embedded: { lookMs: 2000, pingTimeoutMs: 3000 },
  remote: { lookMs: 5000, pingTimeoutMs: 10_000 },
};
const damageCheckTimeoutMs = 10_000;
/** Looking for damage costs more than a ping. */
const looksPerDamageCheck = 15;
const migrationTimeoutMs = 60_000;
/** An engine that has not responded for this long is considered hung. */
const pingsUntilRestart = 3;
const retryMs = 1000;
/** Who asks for the state must not wait longer. */
const checkTimeoutMs = 1400;
/** Frequent questions, which need no key, must not cause frequent pings. */
const freshMs = 500;
const answersAgainMs = 100;
/** https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp: MEMORY_LIMIT_EXCEEDED */
const memoryLimitExceeded = 241;

/** Counts parts that the engine detached as broken (not those detached by an operator), and errors of corrupt data since its start. */
const countDamage = `SELECT (SELECT count() FROM system.detached_parts WHERE reason != ''),
  (SELECT sum(value) FROM system.errors WHERE code IN (${[...damagedCodes].join(", ")})) FORMAT TSV`;

function paceOf({ engine }: WatchedStore): (typeof pace)["remote"] {
  return engine === undefined ? pace.remote : pace.embedded;
}

export class Readiness {
  readonly #logger: Logger;
  readonly #closing = new AbortController();
  #isReachable = false;
  #isDownForGood = false;
  #wake: () => void = () => {};
  #ready = Promise.withResolvers<void>();
  #isReady = false;
  #reason = "The telemetry store is starting.";
  #loggedReason: string | undefined;
  #downSinceMs = performance.now();
  #detachedParts = 0;
  #damagedReads = 0;
  #looksUntilDamageCheck = 0;
  #watching: Promise<void> | undefined;
  #store: WatchedStore | undefined;
  #check: { readonly problem: Promise<string | undefined>; readonly atMs: number } | undefined;

  constructor({ logger }: { logger: Logger }) {
    this.#logger = logger;
  }

  /** The store can be connected to. */
  reachable(): void {
    this.#isReachable = true;
    this.#wake();
  }

  /** Reports that the store is unreachable. Unless that is final, `reachable` is called when it responds again. */
  lost(reason: string, isFinal: boolean): void {
    this.#isReachable = false;
    this.#isDownForGood = isFinal;
    this.#setDown(reason);
  }

  watch(store: WatchedStore): void {
    this.#store = store;
    this.#watching = this.#run(store);
  }

  state(): StoreState {
    const damage = this.#damage();
    const state = this.#isReady ? { ready: true } : { ready: false, reason: this.#reason };
    return damage === undefined ? state : { ...state, damage };
  }

  /** The state, after asking an embedded engine whether it answers now. */
  async check(): Promise<StoreState> {
    const store = this.#store;
    if (!this.#isReady || store?.engine === undefined) return this.state();
    if (this.#check === undefined || performance.now() - this.#check.atMs >= freshMs)
      this.#check = { problem: this.#problemOf(store), atMs: performance.now() };
    const reason = await this.#check.problem;
    const state = this.state();
    return reason === undefined || !state.ready ? state : { ...state, ready: false, reason };
  }

  async #problemOf({ connection }: WatchedStore): Promise<string | undefined> {
    try {
      await connection.ping(AbortSignal.any([AbortSignal.timeout(checkTimeoutMs), this.#closing.signal]));
      return undefined;
    } catch (error) {
      if (error instanceof StoreError && error.code === memoryLimitExceeded)
        return "The embedded telemetry store has no memory left.";
      return "The embedded telemetry store does not answer.";
    }
  }

  /** Resolves once the store is ready and answers. Rejects if the signal fires or the store is closed. */
  async whenAnswering(signal: AbortSignal): Promise<void> {
    const end = AbortSignal.any([signal, this.#closing.signal]);
    for (;;) {
      await this.whenReady(end);
      const ping = this.#store!.connection.ping(AbortSignal.any([AbortSignal.timeout(checkTimeoutMs), end]));
      const answers = await ping.then(
        () => true,
        () => false,
      );
      if (answers) return;
      await sleep(answersAgainMs, end);
      end.throwIfAborted();
    }
  }

  /** Resolves once the store is ready; rejects with the signal's reason. */
  async whenReady(signal: AbortSignal): Promise<void> {
    while (!this.#isReady) await abortable(this.#ready.promise, signal);
  }

  /** @throws AppError overloaded if the store has been down for longer than a sender would wait */
  refuseIfDown(waitMs: number): void {
    if (this.#isReady) return;
    if (!this.#isDownForGood && performance.now() - this.#downSinceMs < waitMs) return;
    throw new AppError("overloaded", this.#reason, { retryAfterMs: 5000 });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#wake();
    await this.#watching;
  }

  #setDown(reason: string): void {
    this.#reason = reason;
    if (!this.#isReady) return;
    this.#isReady = false;
    this.#ready = Promise.withResolvers<void>();
    this.#downSinceMs = performance.now();
  }

  async #run(store: WatchedStore): Promise<void> {
    const { signal } = this.#closing;
    let silent = 0;
    while (!signal.aborted) {
      try {
        if (this.#isReachable) await this.#look(store);
        silent = 0;
      } catch (error) {
        silent += 1;
        this.#fail(error, silent);
        if (silent >= pingsUntilRestart && store.engine !== undefined) {
          silent = 0;
          this.#logger.error({}, "the embedded telemetry store does not respond and is being stopped");
          store.engine.restart();
        }
      }
      if (!signal.aborted) await this.#rest(this.#isReady && silent === 0 ? paceOf(store).lookMs : retryMs);
    }
  }

  /** Waits until the timeout, or until something happens. */
  async #rest(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.#wake = resolve;
    await promise;
    clearTimeout(timer);
  }

  /** @throws StoreError, or Error if the schema cannot be migrated to this version */
  async #look(store: WatchedStore): Promise<void> {
    const { connection, layout, engine } = store;
    const within = (ms: number): AbortSignal => AbortSignal.any([AbortSignal.timeout(ms), this.#closing.signal]);
    await connection.ping(within(paceOf(store).pingTimeoutMs));
    if (!this.#isReady) {
      await migrate(connection.pinned(), layout, within(migrationTimeoutMs));
      this.#isReady = true;
      this.#loggedReason = undefined;
      this.#looksUntilDamageCheck = 0;
      this.#ready.resolve();
      this.#logger.info({}, "the telemetry store is ready");
    }
    if (engine === undefined || this.#looksUntilDamageCheck-- > 0) return;
    this.#looksUntilDamageCheck = looksPerDamageCheck - 1;
    await this.#watchDamage(connection, within(damageCheckTimeoutMs));
  }

  /**
   * The engine silently detaches parts that are corrupt at startup. A part that becomes corrupt later fails every query and
   * merge that reads it. In both cases rows are missing, so it is reported to operators.
   */
  async #watchDamage(connection: Connection, signal: AbortSignal): Promise<void> {
    const answer = await connection.command(countDamage, signal);
    const [detached = 0, reads = 0] = answer.trim().split("\t").map(Number);
    if (detached > this.#detachedParts) {
      this.#logger.error(
        { detached_parts: detached },
        "parts of the telemetry store were damaged and have been set aside; see detached/ in its folder",
      );
    }
    if (reads > 0 && this.#damagedReads === 0)
      this.#logger.error({ damaged_reads: reads }, "data of the telemetry store is damaged and cannot be read");
    this.#detachedParts = detached;
    this.#damagedReads = reads;
  }

  #damage(): string | undefined {
    const found = [
      ...(this.#detachedParts > 0
        ? [`${this.#detachedParts} damaged parts were moved to detached/ folders under telemetry/clickhouse`]
        : []),
      ...(this.#damagedReads > 0 ? [`${this.#damagedReads} reads since the engine's start found damaged data`] : []),
    ];
    return found.length === 0 ? undefined : `Telemetry is damaged: ${found.join("; ")}.`;
  }

  #fail(error: unknown, times: number): void {
    if (this.#closing.signal.aborted) return;
    const transient = error instanceof StoreError && error.kind === "transient";
    // A single failed check of a working store can be a moment of load.
    if (this.#isReady && times < 2) return;
    // Checks of a store that is down follow one another every second: the log has the first, each new reason, and fewer and fewer of the rest.
    const reason = error instanceof Error ? error.message : String(error);
    if (reason !== this.#loggedReason) this.#logger.warn({ error, times }, "the telemetry store cannot be used");
    else if (Number.isInteger(Math.log2(times)))
      this.#logger.warn({ reason, times }, "the telemetry store still cannot be used");
    this.#loggedReason = reason;
    this.#setDown(
      transient || !(error instanceof Error) || error instanceof StoreError
        ? "The telemetry store cannot be reached."
        : error.message,
    );
  }
}

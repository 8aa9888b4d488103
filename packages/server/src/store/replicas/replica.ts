/**
 * One address of a cluster. Statements that wait are watched by pings: if the address does not answer one, they are ended. An
 * address that failed is pinged until it answers again.
 */
import { sleep } from "../../abort.ts";
import { FailureBackoff } from "../../child-process/failure-backoff.ts";
import type { Logger } from "../../logger.ts";
import type { Connection } from "../connection.ts";
import { StoreError } from "../store-error.ts";
import { isAddressFault } from "./address-fault.ts";

export interface ReplicaOptions {
  readonly url: string;
  readonly connection: Connection;
  /** Has one connection for itself, so that a ping does not wait behind statements. */
  readonly pinger: Connection;
  readonly logger: Logger;
}

/** A statement that has waited for so long is watched. */
const stallMs = 1000;
const pingTimeoutMs = 3000;
const firstProbeMs = 1000;
const longestProbeMs = 30_000;

export class Replica {
  readonly url: string;
  readonly #connection: Connection;
  readonly #pinger: Connection;
  readonly #logger: Logger;
  readonly #closing = new AbortController();
  /** Statements without an answer, with the time of their start. */
  readonly #waiting = new Map<AbortController, number>();
  readonly #backoff = new FailureBackoff({ firstMs: firstProbeMs, longestMs: longestProbeMs });
  #downSinceMs: number | undefined;
  #isWatching = false;

  constructor({ connection, logger, pinger, url }: ReplicaOptions) {
    this.url = url;
    this.#connection = connection;
    this.#pinger = pinger;
    this.#logger = logger;
  }

  get isUp(): boolean {
    return this.#downSinceMs === undefined;
  }

  /**
   * Runs a statement up to its answer.
   * @param work gets a signal that also fires if the address stops answering
   * @throws what `work` throws
   */
  async run<Result>(
    signal: AbortSignal,
    work: (connection: Connection, signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const stopping = new AbortController();
    const wasDown = !this.isUp;
    this.#waiting.set(stopping, performance.now());
    void this.#watch();
    try {
      const result = await work(this.#connection, AbortSignal.any([signal, stopping.signal]));
      this.#backoff.succeed();
      if (wasDown) this.#restore();
      return result;
    } catch (error) {
      if (!signal.aborted && isAddressFault(error)) this.#fail(error);
      throw error;
    } finally {
      this.#waiting.delete(stopping);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#connection.close(), this.#pinger.close()]);
  }

  async #watch(): Promise<void> {
    if (this.#isWatching) return;
    this.#isWatching = true;
    while (this.#waiting.size > 0 && !this.#closing.signal.aborted) {
      await sleep(stallMs, this.#closing.signal);
      const startedBefore = performance.now() - stallMs;
      if (![...this.#waiting.values()].some((startMs) => startMs <= startedBefore)) continue;
      const sent = [...this.#waiting.keys()];
      if (await this.#answersPing()) continue;
      const error = new StoreError("The store does not respond.");
      this.#fail(error);
      for (const stopping of sent) stopping.abort(error);
    }
    this.#isWatching = false;
  }

  async #answersPing(): Promise<boolean> {
    try {
      await this.#pinger.ping(AbortSignal.any([AbortSignal.timeout(pingTimeoutMs), this.#closing.signal]));
      return true;
    } catch {
      return this.#closing.signal.aborted;
    }
  }

  #fail(error: StoreError): void {
    if (!this.isUp || this.#closing.signal.aborted) return;
    this.#downSinceMs = performance.now();
    this.#logger.warn({ address: this.url, error }, "an address of ClickHouse failed; statements go to another");
    void this.#probe();
  }

  /** Pings until the address answers. How long the pauses are also depends on earlier failures without a statement that worked since. */
  async #probe(): Promise<void> {
    while (!this.isUp && !this.#closing.signal.aborted) {
      this.#backoff.fail();
      await sleep(Math.max(firstProbeMs, this.#backoff.leftMs), this.#closing.signal);
      if (await this.#answersPing()) this.#restore();
    }
  }

  #restore(): void {
    if (this.#downSinceMs === undefined || this.#closing.signal.aborted) return;
    const downMs = Math.round(performance.now() - this.#downSinceMs);
    this.#downSinceMs = undefined;
    this.#logger.info({ address: this.url, down_ms: downMs }, "an address of ClickHouse answers again");
  }
}

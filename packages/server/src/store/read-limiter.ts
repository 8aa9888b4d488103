/**
 * Limits concurrent reads of the store, fairly between organizations, and measures their time. A statement occupies its
 * slot until its last row is read, and must not wait for another slot meanwhile.
 */
import { availableParallelism } from "node:os";
import { AppError } from "../errors.ts";
import { FairQueue } from "../scheduling/fair-queue.ts";
import { inputLimit } from "../input-limits.ts";
import { currentRequestCost } from "../scheduling/request-cost.ts";
import { ReadUsage } from "./read-usage.ts";

const readsWaiting = inputLimit({
  area: "Logs, traces and metrics",
  bounds: "Query statements that wait for the telemetry store, of all organizations together",
  value: 1000,
  error: "overloaded",
});
const retryAfterMs = 2000;

/**
 * The number of places for reads.
 * @param concurrentReads the setting; absent: by the processors, several of which a single statement already uses
 * @param mostInStore what the store runs at a time; further statements would wait there in the order of arrival
 */
export function readPlaces(
  concurrentReads: number | undefined,
  { mostInStore = Infinity, processors = availableParallelism() } = {},
): number {
  return Math.min(concurrentReads ?? Math.min(16, Math.max(4, processors * 2)), mostInStore);
}

interface Read {
  readonly organizationId: string;
  /** Aborts the read, also while it is queued: the caller's signal and the deadline. */
  readonly signal: AbortSignal;
  /**
   * Called once the read may start.
   * @param priority among the organizations; lower numbers go first
   */
  begin(priority: number): Promise<AsyncIterable<Uint8Array>>;
}

export class ReadLimiter {
  readonly #queue: FairQueue;
  readonly #usage = new ReadUsage();

  constructor(places: number) {
    this.#queue = new FairQueue({
      places,
      // One organization cannot occupy every slot.
      placesPerGroup: Math.max(1, places - 1),
      maxWaiting: readsWaiting,
      what: "The telemetry store",
      retryAfterMs,
    });
  }

  get waiting(): number {
    return this.#queue.waiting;
  }

  /** The bytes of the statement's result. @throws AppError overloaded if no slot is free in time; what `begin` throws */
  async *read({ organizationId, signal, begin }: Read): AsyncGenerator<Uint8Array> {
    const leave = await this.#enter(organizationId, signal);
    const cost = currentRequestCost();
    const priority = this.#usage.priorityOf(organizationId);
    let sinceMs = 0;
    let isWaiting = false;
    const wait = (): void => {
      this.#usage.start(organizationId);
      sinceMs = performance.now();
      isWaiting = true;
    };
    const work = (): void => {
      this.#usage.stop(organizationId);
      cost?.addStore(performance.now() - sinceMs);
      isWaiting = false;
    };
    wait();
    try {
      for await (const chunk of await begin(priority)) {
        work();
        yield chunk;
        wait();
      }
    } finally {
      // Failed and aborted statements have used the store as well.
      if (isWaiting) work();
      leave();
    }
  }

  async #enter(organizationId: string, signal: AbortSignal): Promise<() => void> {
    try {
      return await this.#queue.enter(organizationId, signal);
    } catch (error) {
      if (!(error instanceof DOMException) || error.name !== "TimeoutError") throw error;
      throw new AppError("overloaded", "The telemetry store was busy with other queries for too long. Retry later.", {
        retryAfterMs,
        cause: error,
      });
    }
  }
}

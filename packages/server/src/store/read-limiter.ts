/**
 * Limits concurrent reads of the store, fairly between organizations, and measures their time. A statement occupies its
 * slot until its last row is read, and must not wait for another slot meanwhile.
 */
import { availableParallelism } from "node:os";
import { AppError } from "../errors.ts";
import { FairQueue } from "../scheduling/fair-queue.ts";
import { inputLimit } from "../input-limits.ts";
import { currentRequestCost } from "../scheduling/request-cost.ts";

const readsWaiting = inputLimit({
  area: "Logs, traces and metrics",
  bounds: "Query statements that wait for the telemetry store, of all organizations together",
  value: 1000,
  error: "overloaded",
});
const retryAfterMs = 2000;

/** The default of the setting. A single statement already uses several processors. */
export function defaultConcurrentReads(processors = availableParallelism()): number {
  return Math.min(16, Math.max(4, processors * 2));
}

interface Read {
  readonly organizationId: string;
  /** Aborts the read, also while it is queued: the caller's signal and the deadline. */
  readonly signal: AbortSignal;
  /** Called once the read may start. */
  begin(): Promise<AsyncIterable<Uint8Array>>;
}

export class ReadLimiter {
  readonly #queue: FairQueue;

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
    let sinceMs = performance.now();
    let isWaiting = true;
    try {
      for await (const chunk of await begin()) {
        cost?.addStore(performance.now() - sinceMs);
        isWaiting = false;
        yield chunk;
        sinceMs = performance.now();
        isWaiting = true;
      }
    } finally {
      // Failed and aborted statements have used the store as well.
      if (isWaiting) cost?.addStore(performance.now() - sinceMs);
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

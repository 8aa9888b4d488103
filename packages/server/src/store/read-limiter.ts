/**
 * Lets a bounded number of statements read from the store at a time, fairly between organizations, and counts the time
 * that they take. A statement holds its place until its last row is read, and nothing in between waits for another place.
 */
import { availableParallelism } from "node:os";
import { AppError } from "../errors.ts";
import { FairQueue } from "../scheduling/fair-queue.ts";
import { inputLimit } from "../input-limits.ts";
import { currentRequestCost } from "../scheduling/request-cost.ts";

const readsWaiting = inputLimit({
  area: "Logs, traces and metrics",
  bounds: "Statements of queries that wait for the telemetry store, over all organizations",
  value: 1000,
  error: "overloaded",
});
const retryAfterMs = 2000;

/** Where the setting is absent. A statement uses several processors itself. */
export function defaultConcurrentReads(processors = availableParallelism()): number {
  return Math.min(16, Math.max(4, processors * 2));
}

interface Read {
  readonly organizationId: string;
  /** Ends the read, also while it waits: the caller's own signal and the deadline. */
  readonly signal: AbortSignal;
  /** Called when the read has its place. */
  begin(): Promise<AsyncIterable<Uint8Array>>;
}

export class ReadLimiter {
  readonly #queue: FairQueue;

  constructor(places: number) {
    this.#queue = new FairQueue({
      places,
      // One organization alone leaves a place for the others.
      placesPerGroup: Math.max(1, places - 1),
      maxWaiting: readsWaiting,
      what: "The telemetry store",
      retryAfterMs,
    });
  }

  get waiting(): number {
    return this.#queue.waiting;
  }

  /** The bytes of the statement's answer. @throws AppError overloaded when no place is free in time; what `begin` throws */
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
      // A statement that fails or whose reader leaves has cost the store as much.
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

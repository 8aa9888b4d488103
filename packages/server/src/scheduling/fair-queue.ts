/**
 * Limits how many calls do something at the same time, fairly between groups such as organizations: a free place goes
 * to the group that holds the fewest, so the queue of one group never delays another group by its whole length.
 */
import { onAbort } from "../abort.ts";
import { AppError, defaultRetryAfterMs } from "../errors.ts";
import { RoundRobinQueue } from "./round-robin-queue.ts";

export interface FairQueueOptions {
  /** Calls that run at the same time. */
  readonly places: number;
  /** Of these, calls of one group; absent: all. With less than all, a crowd of one group leaves room for others at once. */
  readonly placesPerGroup?: number | undefined;
  /** Calls that wait at the same time, over all groups. */
  readonly maxWaiting: number;
  /** What is full, for the error message: `The engine "local"`. */
  readonly what: string;
  /** For refused callers; absent: the default. */
  readonly retryAfterMs?: number | undefined;
}

interface Waiting {
  readonly group: string;
  admit(): void;
  refuse(error: unknown): void;
}

export class FairQueue {
  readonly #options: FairQueueOptions;
  readonly #queue = new RoundRobinQueue<Waiting>();
  /** Places in use by each group that has some. */
  readonly #held = new Map<string, number>();
  #running = 0;
  #closed: { readonly error: unknown } | undefined;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * Waits for a place and returns the function that gives it back; calling it again does nothing.
   * When the queue is full, a group with a shorter queue displaces the newest call of the longest queue.
   * @throws AppError overloaded when the queue is full; the signal's reason when it aborts; what `close` was given
   */
  async enter(group: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#closed !== undefined) throw this.#closed.error;
    // While a place is free, only groups wait that hold as many as they may.
    if (this.#running < this.#options.places && this.#mayHoldMore(group)) return this.#take(group);
    if (this.#queue.size >= this.#options.maxWaiting) {
      const displaced = this.#queue.takeFromLongest(this.#queue.waitingOf(group) + 1);
      if (displaced === undefined) throw this.#full();
      displaced.refuse(this.#full());
    }
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const waiting: Waiting = { group, admit: () => resolve(this.#take(group)), refuse: reject };
    this.#queue.push(group, waiting);
    using _listener = onAbort(signal, () => {
      if (this.#queue.remove(group, waiting)) reject(signal.reason);
    });
    return await promise;
  }

  /** Refuses what waits and all later calls; running calls are not affected. */
  close(error: unknown): void {
    this.#closed = { error };
    for (const waiting of this.#queue.drain()) waiting.refuse(error);
  }

  #take(group: string): () => void {
    this.#running++;
    this.#held.set(group, this.#heldBy(group) + 1);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#leave(group);
    };
  }

  #leave(group: string): void {
    this.#running--;
    const held = this.#heldBy(group) - 1;
    if (held > 0) this.#held.set(group, held);
    else this.#held.delete(group);
    while (this.#running < this.#options.places) {
      const next = this.#queue.next((each) => (this.#mayHoldMore(each) ? this.#heldBy(each) : Infinity));
      if (next === undefined) return;
      next.item.admit();
    }
  }

  #mayHoldMore(group: string): boolean {
    return this.#heldBy(group) < (this.#options.placesPerGroup ?? Infinity);
  }

  #heldBy(group: string): number {
    return this.#held.get(group) ?? 0;
  }

  #full(): AppError {
    const { what, retryAfterMs = defaultRetryAfterMs } = this.#options;
    return new AppError(
      "overloaded",
      `${what} has ${this.#running} calls running and ${this.#queue.size} waiting, which is its limit; retry later.`,
      { retryAfterMs },
    );
  }
}

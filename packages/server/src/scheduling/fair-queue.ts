/**
 * Limits concurrent calls, fairly between groups such as organizations: a free place goes to the group with the fewest
 * running calls, so that a long queue of one group does not delay another group.
 */
import { onAbort } from "../abort.ts";
import { AppError, defaultRetryAfterMs } from "../errors.ts";
import { RoundRobinQueue } from "./round-robin-queue.ts";

export interface FairQueueOptions {
  /** Maximum number of concurrent calls. */
  readonly places: number;
  /** Maximum for one group; absent: all. With fewer, a burst of one group leaves places for others. */
  readonly placesPerGroup?: number | undefined;
  /** Maximum number of waiting calls, over all groups. */
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
  /** Places in use, by group. */
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
   * Waits for a place. Returns the function that releases it, which is idempotent.
   * When the queue is full, a group with a shorter queue displaces the newest call of the longest queue.
   * @throws AppError overloaded when the queue is full; the signal's reason when it aborts; what `close` was given
   */
  async enter(group: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#closed !== undefined) throw this.#closed.error;
    // While a place is free, only groups at their own limit wait.
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

  /** Refuses waiting and later calls; running calls continue. */
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
      `${what} has ${this.#running} calls running and ${this.#queue.size} waiting, which is its limit. Retry later.`,
      { retryAfterMs },
    );
  }
}

/** Limits how many calls an engine runs and queues; every organization can always use a part of the limit. */
import { AppError, defaultRetryAfterMs } from "../errors.ts";

export class ConcurrencyLimit {
  readonly #what: string;
  readonly #most: number;
  readonly #taken = new Map<string, number>();
  #total = 0;

  /** @param what names the engine or model in the error: `The engine "local"` */
  constructor(what: string, most: number) {
    this.#what = what;
    this.#most = most;
  }

  /** Slots that every group may use even if others use the whole limit: an eighth of the limit, at least one. */
  get #floor(): number {
    return Math.max(1, Math.floor(this.#most / 8));
  }

  /**
   * Takes slots until the result is disposed.
   * @param group who calls, such as the organization
   * @throws AppError overloaded if the limit is reached, unless the group is below its floor
   */
  take(group = "", count = 1): Disposable {
    const own = this.#taken.get(group) ?? 0;
    if (this.#total + count > this.#most && own + count > this.#floor) {
      throw new AppError(
        "overloaded",
        `${this.#what} has ${this.#total} calls running or waiting; its limit is ${this.#most}. Retry later.`,
        { retryAfterMs: defaultRetryAfterMs, full: true },
      );
    }
    this.#add(group, count);
    return { [Symbol.dispose]: () => this.#add(group, -count) };
  }

  #add(group: string, count: number): void {
    this.#total += count;
    const own = (this.#taken.get(group) ?? 0) + count;
    if (own > 0) this.#taken.set(group, own);
    else this.#taken.delete(group);
  }
}

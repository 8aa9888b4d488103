/** Items that arrive in bursts, for one reader: those that are there are returned without waiting. */
import type { AppError } from "../../errors.ts";

/** Beyond either of these the upstream is held up. One read, at most 64 KiB, may go above. */
const maxUnreadItems = 128;
const maxUnreadBytes = 262_144;

interface Waiter<Item> {
  resolve(result: IteratorResult<Item, undefined>): void;
  reject(error: AppError): void;
}

const ended: IteratorReturnResult<undefined> = { done: true, value: undefined };

export class ItemQueue<Item> {
  readonly #onEmptied: () => void;
  #items: Item[] = [];
  #next = 0;
  #bytes = 0;
  #waiters: Waiter<Item>[] = [];
  #outcome: "whole" | AppError | undefined;

  /** @param onEmptied called when the reader has taken the last item that was there */
  constructor(onEmptied: () => void) {
    this.#onEmptied = onEmptied;
  }

  /** Whether nothing more is added; the reader may still have items to take. */
  get isOver(): boolean {
    return this.#outcome !== undefined;
  }

  get unread(): number {
    return this.#items.length - this.#next;
  }

  /** The next item; rejects with the error that ended the queue, once, after the last item. */
  next(): Promise<IteratorResult<Item, undefined>> {
    if (this.#next < this.#items.length) {
      const value = this.#items[this.#next]!;
      this.#next += 1;
      if (this.#next === this.#items.length) this.#empty();
      return Promise.resolve({ done: false, value });
    }
    const outcome = this.#outcome;
    if (outcome === undefined) return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }));
    this.#outcome = "whole";
    return outcome === "whole" ? Promise.resolve(ended) : Promise.reject(outcome);
  }

  push(item: Item): void {
    const waiter = this.#waiters.shift();
    if (waiter === undefined) this.#items.push(item);
    else waiter.resolve({ done: false, value: item });
  }

  /** Counts what was read for the last items. @returns whether the upstream must wait for the reader */
  isFullWith(bytes: number): boolean {
    this.#bytes += bytes;
    if (this.unread > 0) return this.unread > maxUnreadItems || this.#bytes > maxUnreadBytes;
    this.#bytes = 0;
    return false;
  }

  /** Only the first outcome counts. */
  end(outcome: "whole" | AppError): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = outcome;
    const waiters = this.#waiters.splice(0);
    if (outcome !== "whole" && waiters.length > 0) {
      this.#outcome = "whole";
      waiters.shift()!.reject(outcome);
    }
    for (const { resolve } of waiters) resolve(ended);
  }

  /** The reader takes nothing more. */
  close(): void {
    this.#outcome = "whole";
    for (const { resolve } of this.#waiters.splice(0)) resolve(ended);
    this.#empty();
  }

  #empty(): void {
    this.#items = [];
    this.#next = 0;
    this.#bytes = 0;
    this.#onEmptied();
  }
}

/**
 * Cancels one call. It has the members of an `AbortSignal` that most code needs, and creates a real one only for code that
 * asks for it: most calls end before anything does.
 */
import type { AppError } from "./errors.ts";

/** Notified once, when the call is cancelled. */
export interface AbortListener {
  handleEvent(): void;
}

/** What a `Cancellation` and an `AbortSignal` have in common. */
export interface AbortSource {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: AbortListener): void;
  removeEventListener(type: "abort", listener: AbortListener): void;
}

export class Cancellation implements AbortSource {
  #reason: AppError | undefined;
  #listeners: AbortListener[] = [];
  #controller: AbortController | undefined;

  get aborted(): boolean {
    return this.#reason !== undefined;
  }

  get reason(): AppError | undefined {
    return this.#reason;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Does nothing the second time. */
  abort(reason: AppError): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener.handleEvent();
    this.#controller?.abort(reason);
  }

  addEventListener(_type: "abort", listener: AbortListener): void {
    if (this.#reason === undefined) this.#listeners.push(listener);
  }

  removeEventListener(_type: "abort", listener: AbortListener): void {
    const index = this.#listeners.indexOf(listener);
    if (index !== -1) this.#listeners.splice(index, 1);
  }
}

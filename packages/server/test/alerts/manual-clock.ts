/** A clock that only moves when a test moves it; timers run when their time has come. */
import type { Clock } from "../../src/alerts/clock.ts";

export class ManualClock implements Clock {
  #nowMs: number;
  #monotonicMs = 0;
  readonly #timers = new Set<{ readonly dueMs: number; readonly callback: () => void }>();

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  now(): number {
    return this.#nowMs;
  }

  monotonic(): number {
    return this.#monotonicMs;
  }

  timer(callback: () => void, ms: number): () => void {
    const timer = { dueMs: this.#monotonicMs + ms, callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Time passes. */
  advance(ms: number): void {
    const endMs = this.#monotonicMs + ms;
    for (;;) {
      const [next] = [...this.#timers]
        .filter(({ dueMs }) => dueMs <= endMs)
        .sort((one, other) => one.dueMs - other.dueMs);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#pass(Math.max(0, next.dueMs - this.#monotonicMs));
      next.callback();
    }
    this.#pass(endMs - this.#monotonicMs);
  }

  /** Somebody sets the clock; no time passes. */
  step(ms: number): void {
    this.#nowMs += ms;
  }

  #pass(ms: number): void {
    this.#monotonicMs += ms;
    this.#nowMs += ms;
  }
}

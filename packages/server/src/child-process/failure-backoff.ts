/** Decides how long to wait before a failed process is started again: not at all the first time, then exponentially. */

export interface BackoffLimits {
  readonly firstMs?: number;
  readonly longestMs?: number;
}

export class FailureBackoff {
  readonly #firstMs: number;
  readonly #longestMs: number;
  #count = 0;
  #endMs = 0;

  constructor({ firstMs = 500, longestMs = 30_000 }: BackoffLimits = {}) {
    this.#firstMs = firstMs;
    this.#longestMs = longestMs;
  }

  /** Failures since the last success. */
  get count(): number {
    return this.#count;
  }

  /** The rest of the pause, in milliseconds; 0 when there is none. */
  get leftMs(): number {
    return Math.max(0, this.#endMs - performance.now());
  }

  /** @param longestMs the longest pause after a failure of this kind */
  fail(longestMs = this.#longestMs): void {
    this.#count += 1;
    const pauseMs = this.#count === 1 ? 0 : Math.min(longestMs, this.#firstMs * 2 ** (this.#count - 2));
    this.#endMs = performance.now() + pauseMs;
  }

  succeed(): void {
    this.#count = 0;
  }
}

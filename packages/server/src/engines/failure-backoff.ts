/** How long a model that fails is left alone: the first time not at all, then longer and longer. */

const firstPauseMs = 500;
const longestPauseMs = 30_000;

export class FailureBackoff {
  #count = 0;
  #notBefore = 0;

  /** Failures since the last success. */
  get count(): number {
    return this.#count;
  }

  /** What is left of the pause, milliseconds; 0 when there is none. */
  get leftMs(): number {
    return Math.max(0, this.#notBefore - Date.now());
  }

  fail(): void {
    this.#count++;
    if (this.#count > 1) {
      this.#notBefore = Date.now() + Math.min(longestPauseMs, firstPauseMs * 2 ** (this.#count - 2));
    }
  }

  succeed(): void {
    this.#count = 0;
  }
}

/** Cuts long work into slices, so that other requests are served between them. */
import { setImmediate } from "node:timers/promises";

/** The longest time that a piece of work holds the event loop. */
const sliceMs = 2;
/** The clock is asked once in so many steps. */
const stepsPerLook = 16;

export class Slices {
  #startMs = performance.now();
  #steps = 0;

  /**
   * Whether a slice is over; then the caller awaits `next`. To be asked after each record.
   * @param steps how many records' work it was; `longStep` for one that is worth a look at the clock by itself
   */
  isOver(steps = 1): boolean {
    this.#steps += steps;
    if (this.#steps < stepsPerLook) return false;
    this.#steps = 0;
    return performance.now() - this.#startMs > sliceMs;
  }

  async next(): Promise<void> {
    await setImmediate();
    this.#startMs = performance.now();
  }
}

/** For `isOver`: work of some hundred microseconds. */
export const longStep = stepsPerLook;

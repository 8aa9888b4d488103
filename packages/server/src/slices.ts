/** Cuts long work into slices, so that other requests are served between them. */
import { setImmediate } from "node:timers/promises";

/** The longest time that decoding holds the event loop. */
const sliceMs = 2;
/** The clock is asked once in so many steps. */
const stepsPerLook = 16;

export class Slices {
  #startMs = performance.now();
  #steps = 0;

  /** Whether a slice is over; then the caller awaits `next`. To be asked after each record. */
  isOver(): boolean {
    this.#steps += 1;
    return this.#steps % stepsPerLook === 0 && performance.now() - this.#startMs > sliceMs;
  }

  async next(): Promise<void> {
    await setImmediate();
    this.#startMs = performance.now();
  }
}

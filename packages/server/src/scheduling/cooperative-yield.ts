/** Splits long computations into time slices, so that other requests are served in between. */
import { recordStep, beginStep } from "./main-thread-time.ts";
import { isTimeSliceAwaited, nextTimeSlice } from "./time-slices.ts";
import { currentRequestCost } from "./request-cost.ts";

/** The longest time that a slice blocks the event loop. */
const sliceMs = 2;
/** Steps between two reads of the clock. */
const stepsPerClockCheck = 16;

/** Create it where the computation starts: its time is attributed to the request that runs then. */
export class CooperativeYield {
  readonly #cost = currentRequestCost();
  #startMs = beginStep();
  #steps = 0;
  /** The first slice, which did not wait for its turn, ends as soon as others wait; many of them would add up. */
  #hasSlice = false;

  /**
   * Whether the slice is over; then await `yield()`. Call it after each step, such as a record.
   * @param steps the number of steps; `longStep` if the step alone is worth a read of the clock
   */
  isDue(steps = 1): boolean {
    this.#steps += steps;
    if (this.#steps < stepsPerClockCheck) return false;
    this.#steps = 0;
    const nowMs = this.#cost === undefined ? performance.now() : recordStep(this.#cost, "slice");
    return (!this.#hasSlice && isTimeSliceAwaited()) || nowMs - this.#startMs > sliceMs;
  }

  /** Resolves when the next slice begins. */
  async yield(): Promise<void> {
    await nextTimeSlice(this.#cost?.organizationId ?? "");
    this.#hasSlice = true;
    this.#startMs = beginStep();
  }
}

/** For `isDue`: a step of some hundred microseconds. */
export const longStep = stepsPerClockCheck;

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
  /** The first slice started without queueing, so it ends as soon as others wait; many such slices would add up. */
  #hasSlice = false;

  /**
   * Whether the slice has ended; then await `yield()`. Call it after each step, such as a record.
   * @param steps the number of steps; `longStep` if a single step is long enough to check the clock
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

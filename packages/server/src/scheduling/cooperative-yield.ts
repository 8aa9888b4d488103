/** Cuts long work into slices, so that other requests are served between them. */
import { recordStep, beginStep } from "./main-thread-time.ts";
import { isTimeSliceAwaited, nextTimeSlice } from "./time-slices.ts";
import { currentRequestCost } from "./request-cost.ts";

/** The longest time that a piece of work holds the event loop. */
const sliceMs = 2;
/** The clock is read once in so many steps. */
const stepsPerClockCheck = 16;

/** To be created where the work begins: its slices are those of the request that runs then. */
export class CooperativeYield {
  readonly #cost = currentRequestCost();
  #startMs = beginStep();
  #steps = 0;
  /** A slice that was not waited for is over as soon as others wait, else many that begin at once would add up. */
  #hasSlice = false;

  /**
   * Whether a slice is over; then the caller awaits `next`. To be called after each record.
   * @param steps how many records' work it was; `longStep` for one that is worth a look at the clock on its own
   */
  isDue(steps = 1): boolean {
    this.#steps += steps;
    if (this.#steps < stepsPerClockCheck) return false;
    this.#steps = 0;
    const nowMs = this.#cost === undefined ? performance.now() : recordStep(this.#cost, "slice");
    return (!this.#hasSlice && isTimeSliceAwaited()) || nowMs - this.#startMs > sliceMs;
  }

  /** Resolves when it is this work's turn again. */
  async yield(): Promise<void> {
    await nextTimeSlice(this.#cost?.organizationId ?? "");
    this.#hasSlice = true;
    this.#startMs = beginStep();
  }
}

/** For `isOver`: work of some hundred microseconds. */
export const longStep = stepsPerClockCheck;

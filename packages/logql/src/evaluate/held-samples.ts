/** The samples that one range aggregation holds: several are evaluated concurrently, each releases its own. */
import type { Budget } from "@sounding/promql/evaluate/budget";

export class HeldSamples {
  readonly #budget: Budget;
  #held = 0;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** Charges samples before they are allocated. */
  hold(samples: number): void {
    this.#budget.holdSamples(samples);
    this.#held += samples;
  }

  /** Releases all but this many. */
  releaseDownTo(samples: number): void {
    this.#budget.releaseSamples(this.#held - samples);
    this.#held = samples;
  }
}

/** How many calls an engine takes at one time, those that wait for their turn included. */
import { AppError } from "../../errors.ts";

export class CallSlots {
  readonly #engine: string;
  readonly #most: number;
  #taken = 0;

  constructor(engine: string, most: number) {
    this.#engine = engine;
    this.#most = most;
  }

  /** Frees itself when disposed. @throws AppError overloaded */
  take(): Disposable {
    if (this.#taken >= this.#most) {
      throw new AppError(
        "overloaded",
        `The engine ${JSON.stringify(this.#engine)} has ${this.#taken} calls running or waiting, which is its limit.`,
        { retryAfterMs: 1_000 },
      );
    }
    this.#taken++;
    return { [Symbol.dispose]: () => void this.#taken-- };
  }
}

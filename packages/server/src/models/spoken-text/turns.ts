/** Lets so many pieces of work run at one time; the others wait for their turn, in the order of their coming. */
export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(places: number) {
    this.#free = places;
  }

  /** @throws what the work throws, or the signal's reason when it aborts before the work's turn */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = (): void => {
      const place = this.#waiting.indexOf(resolve);
      if (place !== -1) this.#waiting.splice(place, 1);
      reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    this.#waiting.push(resolve);
    try {
      await promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }
}

/**
 * What one query may cost, and how it shares the thread: it is checked often, and every few milliseconds it lets
 * other work run.
 */
import { AppError } from "../../../errors.ts";
import { longStep, Slices } from "../../../slices.ts";

export interface QueryLimits {
  readonly timeoutMs: number;
  /** Series that one selector may match, and that a result may have. */
  readonly maxSeries: number;
  /** Samples read from the store or held between the parts of a query. */
  readonly maxSamples: number;
  /** Steps of a range query. */
  readonly maxPointsPerSeries: number;
}

export const defaultLimits: QueryLimits = {
  timeoutMs: 60_000,
  maxSeries: 100_000,
  maxSamples: 50_000_000,
  maxPointsPerSeries: 11_000,
};

/** How many samples are worth a look at the clock. */
const workPerLook = 4096;

/** What changing or comparing the labels of a series counts as, in samples looked at. */
export const workOfLabels = 64;
/** What a computation with a native histogram counts as: it has up to some hundred buckets. */
export const workOfHistogram = 128;

export class Budget {
  readonly limits: QueryLimits;
  readonly signal: AbortSignal;
  readonly #deadline: number;
  readonly #slices = new Slices();
  #work = 0;
  #samples = 0;

  constructor(limits: QueryLimits, signal: AbortSignal) {
    this.limits = limits;
    this.signal = signal;
    this.#deadline = performance.now() + limits.timeoutMs;
  }

  /** Throws when the query was cancelled or its time is up. */
  check(): void {
    if (this.signal.aborted) {
      const { reason } = this.signal as { reason: unknown };
      throw reason instanceof AppError ? reason : new AppError("client_closed", "The query was cancelled.");
    }
    if (performance.now() > this.#deadline) {
      const { timeoutMs } = this.limits;
      throw new AppError("timeout", `query timed out in expression evaluation after ${timeoutMs} ms`);
    }
  }

  /** Counts work, in samples looked at; true when it is time to `breathe`. */
  spend(work: number): boolean {
    this.#work += work;
    if (this.#work < workPerLook) return false;
    this.#work = 0;
    return this.#slices.isOver(longStep);
  }

  /** Lets other work run, then checks. */
  async breathe(): Promise<void> {
    await this.#slices.next();
    this.check();
  }

  /** Counts samples held in memory; throws when they are too many. */
  hold(samples: number): void {
    this.#samples += samples;
    if (this.#samples <= this.limits.maxSamples) return;
    throw new AppError(
      "invalid_request",
      "query processing would load too many samples into memory in query execution: " +
        `the limit is ${this.limits.maxSamples}. Select fewer series, a shorter time or a larger step.`,
      { param: "query" },
    );
  }

  /** The samples held at the moment. */
  get held(): number {
    return this.#samples;
  }

  /** Forgets what was held beyond a number: the parts of the query that held it are done. */
  settle(samples: number): void {
    this.#samples = samples;
  }

  checkSeries(count: number, what: string): void {
    if (count <= this.limits.maxSeries) return;
    throw new AppError(
      "invalid_request",
      `${what} has ${count} series, the limit is ${this.limits.maxSeries}. Use more or narrower label matchers.`,
      { param: "query" },
    );
  }
}

/**
 * What one query may cost, and how it shares the thread: it checks its limits often and yields to other work every
 * few milliseconds.
 */
import { setImmediate } from "node:timers/promises";
import { QueryError } from "../query-error.ts";
import { inputLimit } from "../input-limit.ts";
import type { YieldBudget } from "../regex/yield-budget.ts";

export interface QueryLimits {
  readonly timeoutMs: number;
  /** Series that one selector may match, and that a result may have. */
  readonly maxSeries: number;
  /** Samples read from the store or held between the parts of a query. */
  readonly maxSamples: number;
  /** Steps of a range query. */
  readonly maxPointsPerSeries: number;
  /** Samples of one series in a range, and steps of a subquery: a year in steps of a minute is fewer. */
  readonly maxWindowSamples: number;
  /** Samples of a result; a native histogram counts as its buckets. */
  readonly maxResultSamples: number;
  /** Characters of a result's labels together. */
  readonly maxResultLabelCharacters: number;
}

export const defaultLimits: QueryLimits = {
  timeoutMs: inputLimit({
    area: "PromQL",
    bounds: "Time of a query",
    value: 60_000,
    unit: "ms",
    error: "timeout",
  }),
  maxSeries: inputLimit({
    area: "PromQL",
    bounds: "Series of one selector, of a result and of a list",
    value: 100_000,
    error: "invalid_request",
  }),
  maxSamples: inputLimit({
    area: "PromQL",
    bounds: "Samples that a query holds in memory",
    value: 50_000_000,
    error: "invalid_request",
  }),
  maxPointsPerSeries: inputLimit({
    area: "PromQL",
    bounds: "Steps of a range query",
    value: 11_000,
    error: "invalid_request",
  }),
  maxWindowSamples: inputLimit({
    area: "PromQL",
    bounds: "Samples of one series in a range, and steps of a subquery",
    value: 600_000,
    error: "invalid_request",
  }),
  maxResultSamples: inputLimit({
    area: "PromQL",
    bounds: "Samples of a result; each bucket of a native histogram counts",
    value: 5_000_000,
    error: "invalid_request",
  }),
  maxResultLabelCharacters: inputLimit({
    area: "PromQL",
    bounds: "Labels of a result together",
    value: 100_000_000,
    unit: "characters",
    error: "invalid_request",
  }),
};

/** The memory that the query's request may hold. `add` throws when it is too much. */
export interface QueryMemory {
  add(bytes: number): void;
  remove(bytes: number): void;
}

/** The clock is read once per this many samples. */
const workPerClockRead = 4096;

/** The cost of changing or comparing a series' labels, in samples. */
export const workOfLabels = 64;
/** The cost of a computation with a native histogram, in samples: it has up to some hundred buckets. */
export const workOfHistogram = 128;
/** What a sample takes in memory: its time and its value. */
const bytesPerSample = 16;
/** Memory is charged in pieces of this size. */
const bytesPerCharge = 262_144;

/** Decides when a query yields the thread, and to what. */
export interface Yielder {
  /** Whether to yield now, after the work of so many records. */
  isDue(records: number): boolean;
  /** Resolves when it is the query's turn again. */
  yield(): Promise<void>;
}

/** `workPerClockRead` samples are as much work as so many records of an export or a JSON document. */
const recordsPerClockRead = 16;
const longestSliceMs = 2;

class EventLoopYielder implements Yielder {
  #startMs = performance.now();

  isDue(): boolean {
    return performance.now() - this.#startMs > longestSliceMs;
  }

  async yield(): Promise<void> {
    await setImmediate();
    this.#startMs = performance.now();
  }
}

interface BudgetOptions {
  readonly memory?: QueryMemory | undefined;
  /** By default, the query yields to the rest of the event loop. */
  readonly yielder?: Yielder | undefined;
}

export class Budget implements YieldBudget {
  readonly limits: QueryLimits;
  readonly signal: AbortSignal;
  readonly #deadline: number;
  readonly #yielder: Yielder;
  readonly #memory: QueryMemory | undefined;
  #work = 0;
  #samples = 0;
  #samplesRead = 0;
  #otherBytes = 0;
  #chargedBytes = 0;

  constructor(
    limits: QueryLimits,
    signal: AbortSignal,
    { memory, yielder = new EventLoopYielder() }: BudgetOptions = {},
  ) {
    this.limits = limits;
    this.signal = signal;
    this.#deadline = performance.now() + limits.timeoutMs;
    this.#memory = memory;
    this.#yielder = yielder;
  }

  /** Throws when the query was cancelled or its time is up. */
  check(): void {
    if (this.signal.aborted) {
      const { reason } = this.signal as { reason: unknown };
      // Without a reason of the caller's, an AbortController gives a DOMException.
      if (reason instanceof Error && !(reason instanceof DOMException)) throw reason;
      throw new QueryError("client_closed", "The query was cancelled.");
    }
    if (performance.now() > this.#deadline) {
      const { timeoutMs } = this.limits;
      throw new QueryError("timeout", `query timed out in expression evaluation after ${timeoutMs} ms`);
    }
  }

  /** Counts work, in samples read; true when it is time to `yield`. */
  spend(work: number): boolean {
    this.#work += work;
    if (this.#work < workPerClockRead) return false;
    this.#work = 0;
    return this.#yielder.isDue(recordsPerClockRead);
  }

  /** Counts work of a caller that cannot yield; the next `spend` reads the clock sooner. */
  addWork(work: number): void {
    this.#work += work;
  }

  /** Lets other work run, then checks. */
  async yield(): Promise<void> {
    await this.#yielder.yield();
    this.check();
  }

  /** Counts samples before they are held in memory; throws when they are too many. */
  holdSamples(samples: number): void {
    this.#samples += samples;
    this.#samplesRead += samples;
    if (this.#samples > this.limits.maxSamples) {
      throw new QueryError(
        "invalid_request",
        "query processing would load too many samples into memory in query execution: " +
          `the limit is ${this.limits.maxSamples}. Select fewer series, a shorter time or a larger step.`,
        { param: "query" },
      );
    }
    this.#charge();
  }

  /** Releases samples that turned out not to be needed. */
  releaseSamples(samples: number): void {
    this.releaseDownTo(this.#samples - samples);
  }

  /** Charges other memory before it is allocated: labels, answers of the store. */
  holdBytes(bytes: number): void {
    this.#otherBytes += bytes;
    this.#charge();
  }

  /** Releases what `holdBytes` charged: it is freed, or counts as samples now. */
  releaseBytes(bytes: number): void {
    this.#otherBytes -= bytes;
    this.#charge();
  }

  #charge(): void {
    const bytes = this.#samples * bytesPerSample + this.#otherBytes;
    const missing = bytes - this.#chargedBytes;
    if (missing > 0) {
      const charge = Math.ceil(missing / bytesPerCharge) * bytesPerCharge;
      this.#memory?.add(charge);
      this.#chargedBytes += charge;
    } else if (missing < -2 * bytesPerCharge) {
      const surplus = -missing - bytesPerCharge;
      this.#memory?.remove(surplus);
      this.#chargedBytes -= surplus;
    }
  }

  /** All samples that were read from the store or computed so far. */
  get samplesRead(): number {
    return this.#samplesRead;
  }

  /** The samples held at the moment. */
  get held(): number {
    return this.#samples;
  }

  /** Releases all but this many samples: the parts of the query that held them are done. */
  releaseDownTo(samples: number): void {
    this.#samples = samples;
    this.#charge();
  }

  checkSeries(count: number, what: string): void {
    if (count <= this.limits.maxSeries) return;
    throw new QueryError(
      "invalid_request",
      `${what} has ${count} series, the limit is ${this.limits.maxSeries}. Use more or narrower label matchers.`,
      { param: "query" },
    );
  }
}

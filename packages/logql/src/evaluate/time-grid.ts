/** The times at which a query is evaluated, in nanoseconds; an instant query has one. */
export interface TimeGrid {
  readonly startUnixNano: bigint;
  readonly stepNano: bigint;
  readonly count: number;
}

export const nanosPerMilli = 1_000_000n;

export function toNanos(ms: number): bigint {
  return BigInt(Math.round(ms * 1e6));
}

/** A range from its start to its end, both included where they are steps. */
export function stepsOf(startUnixNano: bigint, endUnixNano: bigint, stepNano: bigint): TimeGrid {
  return { startUnixNano, stepNano, count: Number((endUnixNano - startUnixNano) / stepNano) + 1 };
}

/** The multiples of the step around a range: its start is rounded down, its end up. */
export function alignedStepsOf(startUnixNano: bigint, endUnixNano: bigint, stepNano: bigint): TimeGrid {
  const first = startUnixNano - (startUnixNano % stepNano);
  return stepsOf(first, endUnixNano + stepNano - 1n, stepNano);
}

/** The steps' times in Unix milliseconds. */
export function timestampsOf({ count, startUnixNano, stepNano }: TimeGrid): Float64Array {
  const startMs = Number(startUnixNano / nanosPerMilli);
  // Below a millisecond, the sum can carry.
  const restNano = Number(startUnixNano % nanosPerMilli);
  const times = new Float64Array(count);
  const stepMs = Number(stepNano) / 1e6;
  for (let step = 0; step < count; step++) times[step] = startMs + Math.floor(restNano / 1e6 + step * stepMs);
  return times;
}

/** The windows of the steps: each is open at its start and closed at its end. */
export interface WindowTimes {
  readonly grid: TimeGrid;
  readonly rangeNano: bigint;
  readonly offsetNano: bigint;
}

/** The end of the first window. */
export function firstWindowEnd({ grid, offsetNano }: WindowTimes): bigint {
  return grid.startUnixNano - offsetNano;
}

/** The earliest and latest time of all windows, from included, to excluded. */
export function timeRangeOf(times: WindowTimes): { readonly fromUnixNano: bigint; readonly toUnixNano: bigint } {
  const firstEnd = firstWindowEnd(times);
  return {
    fromUnixNano: firstEnd - times.rangeNano + 1n,
    toUnixNano: firstEnd + times.grid.stepNano * BigInt(times.grid.count - 1) + 1n,
  };
}

/**
 * Divides time into panes: the longest pieces of time that lie in the same windows. Entries arrive in ascending time, and
 * every window is a sequence of panes, so a series keeps one partial result for each pane instead of its entries.
 */
export class Panes {
  /** The first and the last window of each pane. */
  readonly firstWindows: number[] = [];
  readonly lastWindows: number[] = [];
  readonly #count: number;
  readonly #stepNano: bigint;
  #first = 0;
  #last = -1;
  /** The end of the window `#first`, and the start of the one after `#last`. */
  #end: bigint;
  #nextStart: bigint;
  #isNew = true;

  constructor(times: WindowTimes) {
    this.#count = times.grid.count;
    this.#stepNano = times.grid.stepNano;
    this.#end = firstWindowEnd(times);
    this.#nextStart = this.#end - times.rangeNano;
  }

  /** The pane of a time, which is not before the previous one; -1 if it is in no window. */
  at(unixNano: bigint): number {
    while (this.#first < this.#count && unixNano > this.#end) {
      this.#first += 1;
      this.#end += this.#stepNano;
      this.#isNew = true;
    }
    while (this.#last + 1 < this.#count && unixNano > this.#nextStart) {
      this.#last += 1;
      this.#nextStart += this.#stepNano;
      this.#isNew = true;
    }
    if (this.#first > this.#last) return -1;
    if (this.#isNew) {
      this.firstWindows.push(this.#first);
      this.lastWindows.push(this.#last);
      this.#isNew = false;
    }
    return this.firstWindows.length - 1;
  }
}

/** Turns the values of spans into one value for each interval. */

/** Values of one series. */
export interface Accumulator {
  add(interval: number, value: number): void;
  /** What a store has counted, summed or compared already, of so many values. */
  addTotal(interval: number, total: number, count: number): void;
  /** NaN where nothing was added. */
  result(): Float64Array;
}

/** Counts; 0 where nothing was added. */
export function counter(intervals: number): Accumulator {
  const counts = new Float64Array(intervals);
  const addTotal = (interval: number, total: number): void => {
    counts[interval]! += total;
  };
  return { add: (interval) => addTotal(interval, 1), addTotal, result: () => counts };
}

export function extreme(intervals: number, isMinimum: boolean): Accumulator {
  const values = new Float64Array(intervals).fill(Number.NaN);
  const add = (interval: number, value: number): void => {
    const seen = values[interval]!;
    if (Number.isNaN(seen) || (isMinimum ? value < seen : value > seen)) values[interval] = value;
  };
  return { add, addTotal: add, result: () => values };
}

/** Sums or averages, with Neumaier's compensation: the order of spans hardly matters. */
export function sum(intervals: number, isAverage: boolean): Accumulator {
  const sums = new Float64Array(intervals);
  const compensations = new Float64Array(intervals);
  const counts = new Float64Array(intervals);
  const addTotal = (interval: number, value: number, count: number): void => {
    const before = sums[interval]!;
    const after = before + value;
    sums[interval] = after;
    counts[interval]! += count;
    if (!Number.isFinite(after)) return;
    const lost = Math.abs(before) >= Math.abs(value) ? before - after + value : value - after + before;
    compensations[interval]! += lost;
  };
  const result = (): Float64Array =>
    sums.map((value, interval) => {
      const count = counts[interval]!;
      if (count === 0) return Number.NaN;
      return (value + compensations[interval]!) / (isAverage ? count : 1);
    });
  return { add: (interval, value) => addTotal(interval, value, 1), addTotal, result };
}

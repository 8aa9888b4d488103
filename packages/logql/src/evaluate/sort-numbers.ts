/** Sorts many numbers with pauses: runs are sorted at once, then merged two by two. */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";

/** Numbers that are sorted or merged between two questions whether a pause is due: less than two milliseconds. */
export const numbersPerCheck = 16_384;

/** In ascending order, NaN last. */
export async function sortNumbers(values: Float64Array, budget: YieldBudget): Promise<Float64Array> {
  if (values.length <= numbersPerCheck) return values.toSorted();
  let from = values.slice();
  for (let start = 0; start < from.length; start += numbersPerCheck) {
    from.subarray(start, start + numbersPerCheck).sort();
    if (budget.spend(numbersPerCheck)) await budget.yield();
  }
  let to = new Float64Array(values.length);
  for (let run = numbersPerCheck; run < from.length; run *= 2) {
    for (let start = 0; start < from.length; start += 2 * run) await mergeRuns({ from, to, start, run }, budget);
    [from, to] = [to, from];
  }
  return from;
}

interface Merge {
  readonly from: Float64Array;
  readonly to: Float64Array;
  /** Where the first of two runs begins. */
  readonly start: number;
  readonly run: number;
}

async function mergeRuns({ from, run, start, to }: Merge, budget: YieldBudget): Promise<void> {
  const middle = Math.min(start + run, from.length);
  const end = Math.min(middle + run, from.length);
  let [left, right] = [start, middle];
  for (let at = start; at < end;) {
    const stop = Math.min(end, at + numbersPerCheck);
    for (; at < stop; at++) {
      const takesRight = left === middle || (right < end && (from[right]! < from[left]! || Number.isNaN(from[left])));
      to[at] = takesRight ? from[right++]! : from[left++]!;
    }
    if (budget.spend(numbersPerCheck)) await budget.yield();
  }
}

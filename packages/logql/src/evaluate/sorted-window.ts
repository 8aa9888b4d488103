/** The values of a window in ascending order. A step adds and removes few of them, so sorting all again would be slow. */
import { quantileOfSorted } from "@sounding/promql/functions/quantile";
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { Steps } from "../pipeline/run-steps.ts";
import { numbersPerCheck } from "./sort-numbers.ts";

export class SortedWindow {
  /** NaN is not among the values; it counts as smaller than all of them. */
  #values: Float64Array;
  #spare: Float64Array;
  #length = 0;
  #nans = 0;

  constructor(most: number) {
    this.#values = new Float64Array(most);
    this.#spare = new Float64Array(most);
  }

  get size(): number {
    return this.#nans + this.#length;
  }

  /** Adds values in ascending order, NaN last. */
  *add(added: Float64Array, budget: YieldBudget): Steps<void> {
    const count = countNumbers(added);
    this.#nans += added.length - count;
    const [from, to] = [this.#values, this.#spare];
    const known = this.#length;
    const all = known + count;
    let index = 0;
    let next = 0;
    for (let length = 0; length < all;) {
      const stop = Math.min(all, length + numbersPerCheck);
      for (; length < stop; length++) {
        const takesAdded = index === known || (next < count && added[next]! < from[index]!);
        to[length] = takesAdded ? added[next++]! : from[index++]!;
      }
      if (length < all && budget.spend(numbersPerCheck)) yield budget.yield();
    }
    this.#swap(all);
  }

  /** Removes values that were added before. */
  *remove(removed: Float64Array, budget: YieldBudget): Steps<void> {
    const count = countNumbers(removed);
    this.#nans -= removed.length - count;
    const [from, to] = [this.#values, this.#spare];
    let length = 0;
    let next = 0;
    const known = this.#length;
    for (let index = 0; index < known;) {
      const stop = Math.min(known, index + numbersPerCheck);
      for (; index < stop; index++) {
        const value = from[index]!;
        if (next < count && removed[next] === value) next++;
        else to[length++] = value;
      }
      if (index < known && budget.spend(numbersPerCheck)) yield budget.yield();
    }
    this.#swap(length);
  }

  #swap(length: number): void {
    [this.#values, this.#spare] = [this.#spare, this.#values];
    this.#length = length;
  }

  quantile(quantile: number): number {
    const nans = this.#nans;
    const valueAt = (index: number): number => (index < nans ? Number.NaN : this.#values[index - nans]!);
    return quantileOfSorted(quantile, this.size, valueAt);
  }
}

function countNumbers(values: Float64Array): number {
  let count = values.length;
  while (count > 0 && Number.isNaN(values[count - 1]!)) count--;
  return count;
}

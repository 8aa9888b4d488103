/** The best k of a group's values at one step, for topk and bottomk. */
import type { Budget } from "./budget.ts";
import { sortInSlices } from "./sort-in-slices.ts";

/** What Go sorts by insertion. */
const shortSlice = 12;

/** A rank in the order: NaN is always the worst. */
type Better = (left: number, right: number) => boolean;

export class ValueHeap<Item> {
  readonly #values: number[] = [];
  readonly #items: Item[] = [];
  readonly #better: Better;
  readonly #size: number;

  /** Keeps the `size` greatest values, or the smallest. */
  constructor(size: number, greatest: boolean) {
    this.#size = size;
    this.#better = greatest ? (left, right) => left > right : (left, right) => left < right;
  }

  /** Adds the value if the heap is not full, or if it is better than the worst so far. */
  offer(value: number, item: Item): void {
    if (this.#values.length < this.#size) {
      this.#values.push(value);
      this.#items.push(item);
      this.#siftUp(this.#values.length - 1);
    } else if (this.#better(value, this.#values[0]!) || (Number.isNaN(this.#values[0]!) && !Number.isNaN(value))) {
      this.#values[0] = value;
      this.#items[0] = item;
      this.#siftDown(0);
    }
  }

  /** The items from the best to the worst; equal ones in the heap's order, as in Prometheus. */
  async sorted(budget: Budget): Promise<readonly Item[]> {
    const order = this.#values.map((_, index) => index);
    if (order.length > shortSlice) {
      const sorted = await sortInSlices(order, (left, right) => this.#order(left, right), budget);
      return sorted.map((index) => this.#items[index]!);
    }
    // An insertion sort like Go's for short slices, since the order of NaNs is not consistent.
    for (let index = 1; index < order.length; index++) {
      for (let place = index; place > 0 && this.#worse(order[place - 1]!, order[place]!); place--) {
        [order[place - 1], order[place]] = [order[place]!, order[place - 1]!];
      }
    }
    return order.map((index) => this.#items[index]!);
  }

  /** Whether the value at `left` is worse than that at `right`; NaN is worse than everything. */
  #worse(left: number, right: number): boolean {
    const value = this.#values[left]!;
    return Number.isNaN(value) || this.#better(this.#values[right]!, value);
  }

  /** For sorting the best first. */
  #order(left: number, right: number): number {
    if (Number.isNaN(this.#values[left]!) && Number.isNaN(this.#values[right]!)) return 0;
    return Number(this.#worse(left, right)) - Number(this.#worse(right, left));
  }

  #swap(left: number, right: number): void {
    [this.#values[left], this.#values[right]] = [this.#values[right]!, this.#values[left]!];
    [this.#items[left], this.#items[right]] = [this.#items[right]!, this.#items[left]!];
  }

  #siftUp(from: number): void {
    for (let index = from; index > 0;) {
      const parent = (index - 1) >> 1;
      if (!this.#worse(index, parent)) return;
      this.#swap(index, parent);
      index = parent;
    }
  }

  #siftDown(from: number): void {
    for (let index = from; ;) {
      let child = 2 * index + 1;
      if (child >= this.#values.length) return;
      if (child + 1 < this.#values.length && this.#worse(child + 1, child)) child++;
      if (!this.#worse(child, index)) return;
      this.#swap(index, child);
      index = child;
    }
  }
}

/** The samples of one series on their way to a value for each window. */
import type { Budget } from "@sounding/promql/evaluate/budget";
import { setFloat, type Column } from "@sounding/promql/evaluate/grid";
import { runSteps } from "../pipeline/run-steps.ts";
import { sortNumbers } from "./sort-numbers.ts";
import { SortedWindow } from "./sorted-window.ts";
import type { Panes } from "./time-grid.ts";
import type { HeldSamples } from "./held-samples.ts";
import type { WindowFunction } from "./window-functions.ts";

export interface SeriesWindows {
  /** Adds a sample; panes come in ascending order. */
  add(pane: number, value: number, timeNano: number): void;
  /** Sets the value of each window that has samples. */
  fill(column: Column, panes: Panes, budget: Budget): Promise<void>;
}

/** A number of a partial result, in samples of the budget. */
const samplesPerNumber = 0.5;
const initialPanes = 4;

/** Keeps a partial result for each pane with samples. */
export class MergedWindows implements SeriesWindows {
  readonly #function: WindowFunction;
  readonly #stepNano: number;
  readonly #held: HeldSamples;
  readonly #panes: number[] = [];
  #states: Float64Array;

  constructor(windowFunction: WindowFunction, stepNano: number, held: HeldSamples) {
    this.#function = windowFunction;
    this.#stepNano = stepNano;
    this.#held = held;
    held.hold(initialPanes * windowFunction.width * samplesPerNumber);
    this.#states = new Float64Array(initialPanes * windowFunction.width);
  }

  add(pane: number, value: number, timeNano: number): void {
    const { width } = this.#function;
    const last = this.#panes.length - 1;
    if (last >= 0 && this.#panes[last] === pane) {
      this.#function.add(this.#states, last * width, value, timeNano);
      return;
    }
    this.#panes.push(pane);
    this.#reserve(this.#panes.length);
    this.#function.start(this.#states, (last + 1) * width, value, timeNano);
  }

  #reserve(panes: number): void {
    const needed = panes * this.#function.width;
    if (needed <= this.#states.length) return;
    const length = Math.max(needed, 2 * this.#states.length);
    this.#held.hold((length - this.#states.length) * samplesPerNumber);
    const states = new Float64Array(length);
    states.set(this.#states);
    this.#states = states;
  }

  /**
   * A window's panes are a queue. Its older part has in each place the merged result from there to the part's end, its newer
   * part one running result, so each step merges only two results: https://en.wikipedia.org/wiki/Queue_(abstract_data_type)
   */
  async fill(column: Column, { firstWindows, lastWindows }: Panes, budget: Budget): Promise<void> {
    const { width } = this.#function;
    const count = this.#panes.length;
    this.#reserve(count + 2);
    const newer = count * width;
    const scratch = newer + width;
    let start = 0;
    let middle = 0;
    let end = 0;
    for (let step = 0; step < column.kinds.length; step++) {
      for (; end < count && firstWindows[this.#panes[end]!]! <= step; end++) {
        if (middle === end) this.#copy(newer, end * width);
        else this.#function.merge(this.#states, newer, end * width);
      }
      for (; start < end && lastWindows[this.#panes[start]!]! < step; start++) {
        if (start < middle) continue;
        for (let place = end - 2; place >= start; place--) {
          this.#function.merge(this.#states, place * width, (place + 1) * width);
        }
        if (budget.spend(end - start)) await budget.yield();
        middle = end;
      }
      if (start === end) {
        middle = end;
        continue;
      }
      let at = newer;
      if (start < middle) {
        at = scratch;
        this.#copy(scratch, start * width);
        if (middle < end) this.#function.merge(this.#states, scratch, newer);
      }
      setFloat(column, step, this.#function.result(this.#states, at, step * this.#stepNano));
    }
    if (budget.spend(2 * column.kinds.length)) await budget.yield();
  }

  #copy(to: number, from: number): void {
    this.#states.copyWithin(to, from, from + this.#function.width);
  }
}

/** Keeps every sample, for quantiles. */
export class QuantileWindows implements SeriesWindows {
  readonly #quantile: number;
  readonly #held: HeldSamples;
  readonly #panes: number[] = [];
  /** The index of each pane's first sample. */
  readonly #starts: number[] = [];
  #values = new Float64Array(0);
  #length = 0;

  constructor(quantile: number, held: HeldSamples) {
    this.#quantile = quantile;
    this.#held = held;
  }

  add(pane: number, value: number): void {
    if (this.#panes.at(-1) !== pane) {
      this.#held.hold(1);
      this.#panes.push(pane);
      this.#starts.push(this.#length);
    }
    if (this.#length === this.#values.length) {
      const length = Math.max(8, 2 * this.#length);
      this.#held.hold((length - this.#length) * samplesPerNumber);
      const values = new Float64Array(length);
      values.set(this.#values);
      this.#values = values;
    }
    this.#values[this.#length++] = value;
  }

  async fill(column: Column, { firstWindows, lastWindows }: Panes, budget: Budget): Promise<void> {
    const count = this.#panes.length;
    this.#held.hold(this.#length);
    const window = new SortedWindow(this.#length);
    let start = 0;
    let end = 0;
    for (let step = 0; step < column.kinds.length; step++) {
      const firstKept = start;
      while (start < end && lastWindows[this.#panes[start]!]! < step) start++;
      if (firstKept < start) {
        await runSteps(window.remove(await sortNumbers(this.#valuesOf(firstKept, start), budget), budget));
      }
      const firstNew = end;
      while (end < count && firstWindows[this.#panes[end]!]! <= step) end++;
      if (firstNew < end) {
        await runSteps(window.add(await sortNumbers(this.#valuesOf(firstNew, end), budget), budget));
      }
      if (start < end) setFloat(column, step, window.quantile(this.#quantile));
      if (budget.spend(1 + window.size)) await budget.yield();
    }
  }

  /** The values of some panes. */
  #valuesOf(firstPlace: number, endPlace: number): Float64Array {
    const end = endPlace === this.#starts.length ? this.#length : this.#starts[endPlace]!;
    return this.#values.subarray(this.#starts[firstPlace], end);
  }
}

/**
 * The aggregations that reduce each group to one series.
 * https://prometheus.io/docs/prometheus/latest/querying/operators/#aggregation-operators
 */
import { HistogramAdder } from "../functions/histogram-over-time.ts";
import { quantileOf } from "../functions/quantile.ts";
import { compactHistogram } from "../histogram/float-histogram.ts";
import { getLabel } from "../series/labels.ts";
import type { Aggregation } from "../syntax/ast.ts";
import { messages } from "./annotations.ts";
import {
  absent,
  float,
  histogram,
  histogramAt,
  isEmpty,
  newColumn,
  setFloat,
  setHistogram,
  type Column,
} from "./grid.ts";
import { workOfHistogram, workOfLabels } from "./budget.ts";
import { groupColumns, type Group } from "./grouping.ts";
import type { OperatorContext } from "./query-context.ts";

interface AggregateCall {
  readonly aggregation: Aggregation;
  readonly context: OperatorContext;
  /** The parameter at each step, for quantile. */
  readonly parameter: Float64Array;
}

/** Fills the group's column. */
type Aggregator = (group: Group, out: Column, call: AggregateCall) => Promise<void>;

/** One series for each group. */
export async function aggregate(columns: readonly Column[], call: AggregateCall): Promise<readonly Column[]> {
  const { budget } = call.context;
  const results: Column[] = [];
  const aggregator = aggregators[call.aggregation.operator]!;
  if (call.aggregation.operator === "quantile") warnOfQuantiles(call);
  for (const group of await groupColumns(columns, call.aggregation, budget)) {
    const count = group.columns[0]!.kinds.length;
    budget.holdSamples(count);
    const out = newColumn(
      group.labels,
      group.columns.some((column) => column.dropName),
      count,
    );
    await aggregator(group, out, call);
    if (!isEmpty(out)) results.push(out);
    if (budget.spend(workOfLabels)) await budget.yield();
  }
  return results;
}

function warnOfQuantiles({ aggregation, context, parameter }: AggregateCall): void {
  const warn = (quantile: number): void =>
    context.annotations.warn(messages.invalidQuantile(quantile), aggregation.parameter!.at);
  const numbers = parameter.filter((quantile) => !Number.isNaN(quantile));
  if (numbers.length < parameter.length) warn(Number.NaN);
  const highest = numbers.reduce((most, value) => Math.max(most, value), -Infinity);
  const lowest = numbers.reduce((least, value) => Math.min(least, value), Infinity);
  if (highest > 1) warn(highest);
  if (lowest < 0) warn(lowest);
}

function ignoreHistogram({ aggregation, context }: AggregateCall): void {
  context.annotations.inform(messages.histogramIgnored(aggregation.operator), aggregation.expression.at);
}

/** Calls back for each series of the group, and yields between them. */
async function eachColumn(
  group: Group,
  { context }: AggregateCall,
  visit: (column: Column) => Promise<void> | void,
): Promise<void> {
  for (const column of group.columns) {
    await visit(column);
    if (context.budget.spend(column.kinds.length)) await context.budget.yield();
  }
}

/** Calls back for each float of the group, series by series; histograms are dropped with an info. */
function eachFloat(group: Group, call: AggregateCall, visit: (step: number, value: number) => void): Promise<void> {
  return eachColumn(group, call, ({ kinds, values }) => {
    for (let step = 0; step < kinds.length; step++) {
      if (kinds[step] === float) visit(step, values[step]!);
      else if (kinds[step] === histogram) ignoreHistogram(call);
    }
  });
}

function extreme(wins: (challenger: number, champion: number) => boolean): Aggregator {
  return (group, out, call) =>
    eachFloat(group, call, (step, value) => {
      const known = out.values[step]!;
      if (out.kinds[step] === absent || wins(value, known) || Number.isNaN(known)) setFloat(out, step, value);
    });
}

const count: Aggregator = (group, out, call) =>
  eachColumn(group, call, ({ kinds }) => {
    for (let step = 0; step < kinds.length; step++) {
      if (kinds[step] !== absent) setFloat(out, step, out.values[step]! + 1);
    }
  });

const presence: Aggregator = (group, out, call) =>
  eachColumn(group, call, ({ kinds }) => {
    for (let step = 0; step < kinds.length; step++) {
      if (kinds[step] !== absent) setFloat(out, step, 1);
    }
  });

/** Welford's algorithm, then a function of the variance. */
function spread(finish: (variance: number) => number): Aggregator {
  return async (group, out, call) => {
    const counts = new Float64Array(out.kinds.length);
    const means = new Float64Array(out.kinds.length);
    await eachFloat(group, call, (step, value) => {
      counts[step]!++;
      if (counts[step] === 1) {
        means[step] = value;
        setFloat(out, step, Number.isFinite(value) ? 0 : Number.NaN);
        return;
      }
      const difference = value - means[step]!;
      means[step]! += difference / counts[step]!;
      out.values[step]! += difference * (value - means[step]!);
    });
    for (let step = 0; step < counts.length; step++) {
      if (out.kinds[step] !== absent) out.values[step] = finish(out.values[step]! / counts[step]!);
    }
  };
}

const quantile: Aggregator = async (group, out, call) => {
  const { budget } = call.context;
  const values = new Float64Array(group.columns.length);
  for (let step = 0; step < out.kinds.length; step++) {
    let found = 0;
    for (const column of group.columns) {
      if (column.kinds[step] === float) values[found++] = column.values[step]!;
      else if (column.kinds[step] === histogram) ignoreHistogram(call);
    }
    if (found > 0) setFloat(out, step, quantileOf(call.parameter[step]!, values, found));
    if (budget.spend(group.columns.length * 8)) await budget.yield();
  }
};

/** Compensated sums for each step, in columns. */
interface FloatTotals {
  readonly counts: Float64Array;
  readonly sums: Float64Array;
  readonly compensations: Float64Array;
  /** The steps whose sum would overflow; their mean is updated value by value. */
  readonly incremental: Uint8Array;
}

function addFloat(totals: FloatTotals, step: number, value: number): void {
  const sum = totals.sums[step]!;
  const total = sum + value;
  if (total === Infinity || total === -Infinity) totals.compensations[step] = 0;
  else if (Math.abs(sum) >= Math.abs(value)) totals.compensations[step]! += sum - total + value;
  else totals.compensations[step]! += value - total + sum;
  totals.sums[step] = total;
}

function addToMean(totals: FloatTotals, step: number, value: number): void {
  const seen = totals.counts[step]!;
  if (totals.incremental[step] === 0) {
    if (seen === 1 || Math.abs(totals.sums[step]! + value) !== Infinity) {
      if (seen === 1) totals.sums[step] = value;
      else addFloat(totals, step, value);
      return;
    }
    totals.incremental[step] = 1;
    totals.sums[step]! /= seen - 1;
    totals.compensations[step]! /= seen - 1;
  }
  const share = (seen - 1) / seen;
  totals.sums[step]! *= share;
  totals.compensations[step]! *= share;
  addFloat(totals, step, value / seen);
}

/** sum and avg, of floats or of histograms, but not of both at one step. */
function total(isMean: boolean): Aggregator {
  return async (group, out, call) => {
    const steps = out.kinds.length;
    const totals: FloatTotals = {
      counts: new Float64Array(steps),
      sums: new Float64Array(steps),
      compensations: new Float64Array(steps),
      incremental: new Uint8Array(steps),
    };
    const histograms = new HistogramTotals(steps, isMean, call);
    const { budget } = call.context;
    await eachColumn(group, call, async (column) => {
      for (let step = 0; step < steps; step++) {
        if (column.kinds[step] === float) {
          totals.counts[step]!++;
          if (isMean) addToMean(totals, step, column.values[step]!);
          else if (totals.counts[step] === 1) totals.sums[step] = column.values[step]!;
          else addFloat(totals, step, column.values[step]!);
        } else if (column.kinds[step] === histogram) {
          histograms.add(column, step, totals.counts[step]! > 0);
          if (budget.spend(workOfHistogram)) await budget.yield();
        }
      }
    });
    for (let step = 0; step < steps; step++) {
      finishTotal(out, step, { totals, histograms, isMean, call });
      if (histograms.hasAny(step) && budget.spend(workOfHistogram)) await budget.yield();
    }
  };
}

function finishTotal(
  out: Column,
  step: number,
  from: { totals: FloatTotals; histograms: HistogramTotals; isMean: boolean; call: AggregateCall },
): void {
  const { call, histograms, isMean, totals } = from;
  const seen = totals.counts[step]!;
  if (histograms.hasAny(step)) {
    if (seen > 0) {
      const { annotations } = call.context;
      annotations.warn(messages.mixedFloatsHistogramsAggregation(), call.aggregation.expression.at);
    } else {
      histograms.finish(out, step);
    }
  } else if (seen > 0) {
    const divisor = isMean && totals.incremental[step] === 0 ? seen : 1;
    setFloat(out, step, totals.sums[step]! / divisor + totals.compensations[step]! / divisor);
  }
}

/** The histograms of each step; most groups have none. */
class HistogramTotals {
  readonly #adders: (HistogramAdder | null | undefined)[] = [];
  readonly #isMean: boolean;
  readonly #call: AggregateCall;
  readonly #steps: number;

  constructor(steps: number, isMean: boolean, call: AggregateCall) {
    this.#steps = steps;
    this.#isMean = isMean;
    this.#call = call;
  }

  /** A step that has floats gets no total, so it only matters that it has a histogram. */
  add(column: Column, step: number, afterFloats: boolean): void {
    if (this.#adders.length === 0) this.#adders.length = this.#steps;
    const adder = this.#adders[step];
    // null: no total.
    if (adder === null) return;
    if (adder === undefined && afterFloats) {
      this.#adders[step] = null;
      return;
    }
    const value = histogramAt(column, step);
    if (adder === undefined) {
      this.#adders[step] = new HistogramAdder(value, {
        annotations: this.#call.context.annotations,
        at: this.#call.aggregation.expression.at,
        metric: getLabel(column.labels, "__name__"),
      });
      return;
    }
    if (!(this.#isMean ? adder.addToMean(value) : adder.add(value))) this.#adders[step] = null;
  }

  hasAny(step: number): boolean {
    return this.#adders[step] !== undefined;
  }

  finish(out: Column, step: number): void {
    const adder = this.#adders[step];
    if (adder == null) return;
    setHistogram(out, step, compactHistogram(this.#isMean ? adder.mean() : adder.sum()));
  }
}

const aggregators: Partial<Record<Aggregation["operator"], Aggregator>> = {
  sum: total(false),
  avg: total(true),
  count,
  group: presence,
  min: extreme((left, right) => left < right),
  max: extreme((left, right) => left > right),
  stddev: spread(Math.sqrt),
  stdvar: spread((variance) => variance),
  quantile,
};

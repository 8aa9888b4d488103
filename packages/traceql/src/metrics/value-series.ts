/** Series with one value per group and interval: rates, counts, minima, maxima, sums, averages. */
import { workOfLabels } from "@sounding/promql/evaluate/budget";
import { fieldReader } from "../spans/read-field.ts";
import type { NamedValue } from "../spans/spanset.ts";
import type { TraceView } from "../spans/trace-view.ts";
import type { SpanGridSeries } from "../storage.ts";
import type { MetricsAggregate } from "../syntax/ast.ts";
import { counter, extreme, sum, type Accumulator } from "./accumulator.ts";
import { GroupIndex, keyOfGroup } from "./group-index.ts";
import { measureOf, unitOf } from "./measure.ts";
import type { Exemplar, Series } from "./series.ts";
import type { GridObserver, ObserverContext } from "./span-observer.ts";

interface Group {
  readonly labels: readonly NamedValue[];
  readonly values: Accumulator;
  readonly exemplars: Exemplar[];
}

export class ValueSeries implements GridObserver {
  readonly #aggregate: MetricsAggregate;
  readonly #context: ObserverContext;
  readonly #groups: GroupIndex<Group>;
  readonly #read: ReturnType<typeof fieldReader> | null;
  /** From the measured unit to that of the result. */
  readonly #factor: number;

  constructor(aggregate: MetricsAggregate, context: ObserverContext) {
    const { by, field, operator } = aggregate;
    const { budget, intervals } = context;
    this.#aggregate = aggregate;
    this.#context = context;
    this.#read = field === null ? null : fieldReader(field);
    this.#factor = operator === "rate" ? 1 / (Number(intervals.stepNano) / 1e9) : 1;
    const create = (labels: readonly NamedValue[]): Group => {
      budget.holdSamples(2 * intervals.count);
      budget.addWork(workOfLabels + intervals.count);
      return { labels, values: this.#accumulator(), exemplars: [] };
    };
    this.#groups = new GroupIndex({ by, name: operator, budget, create });
    // A count without groups is 0 also where no span matches.
    if (field === null && by.length === 0) this.#groups.ofValues([]);
  }

  #accumulator(): Accumulator {
    const { count } = this.#context.intervals;
    switch (this.#aggregate.operator) {
      case "min_over_time":
      case "max_over_time":
        return extreme(count, this.#aggregate.operator === "min_over_time");
      case "sum_over_time":
      case "avg_over_time":
        return sum(count, this.#aggregate.operator === "avg_over_time");
      case "rate":
      case "count_over_time":
      case "quantile_over_time":
      case "histogram_over_time":
        return counter(count);
    }
  }

  observe(view: TraceView, index: number, interval: number): void {
    const value = this.#measure(view, index);
    if (value === undefined) return;
    const group = this.#groups.ofSpan(view, index);
    group.values.add(interval, value);
    this.#offer(group, view, index, value);
  }

  observeExemplar(view: TraceView, index: number): void {
    const value = this.#measure(view, index);
    if (value !== undefined) this.#offer(this.#groups.ofSpan(view, index), view, index, value);
  }

  /** 1 for counts. */
  #measure(view: TraceView, index: number): number | undefined {
    return this.#read === null ? 1 : measureOf(this.#read(view, index));
  }

  #offer(group: Group, view: TraceView, index: number, value: number): void {
    const { field } = this.#aggregate;
    const shown = field === null ? Number.NaN : value / unitOf(field);
    const exemplar = this.#context.exemplars.offer(view, index, shown);
    if (exemplar !== null) group.exemplars.push(exemplar);
  }

  async addGrid(series: readonly SpanGridSeries[], spans: readonly SpanGridSeries[] = []): Promise<void> {
    const { budget, intervals } = this.#context;
    const spansOf = new Map<string, Float64Array>();
    for (const { by, values } of spans) {
      if (budget.spend(workOfLabels)) await budget.yield();
      spansOf.set(keyOfGroup(by), values);
    }
    for (const { by, present, values } of series) {
      if (budget.spend(workOfLabels + intervals.count)) await budget.yield();
      const group = this.#groups.ofValues(by);
      const counts = spans.length === 0 ? undefined : spansOf.get(keyOfGroup(by));
      for (let interval = 0; interval < values.length; interval++) {
        if (present[interval] === 1) group.values.addTotal(interval, values[interval]!, counts?.[interval] ?? 1);
      }
    }
  }

  async result(): Promise<readonly Series[]> {
    const { budget, intervals } = this.#context;
    const unit = unitOf(this.#aggregate.field);
    const series: Series[] = [];
    for (const { exemplars, labels, values } of this.#groups.groups) {
      if (budget.spend(2 * intervals.count)) await budget.yield();
      const result = values.result().map((value) => (value * this.#factor) / unit);
      series.push({ labels, values: result, exemplars });
    }
    return series;
  }
}

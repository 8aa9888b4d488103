/** `compare()`: how often the values of all fields occur in the selected spans and in the others. */
import { workOfLabels } from "@sounding/promql/evaluate/budget";
import { sortInSlices } from "@sounding/promql/evaluate/sort-in-slices";
import { compileCondition, type Condition } from "../spans/compile-field.ts";
import { keyOf, stringValue } from "../spans/static-value.ts";
import type { TraceView } from "../spans/trace-view.ts";
import type { MetricsCompare, StaticValue } from "../syntax/ast.ts";
import { labelValue, type Exemplar, type Series } from "./series.ts";
import { SpanFields } from "./span-fields.ts";
import type { ObserverContext, SpanObserver } from "./span-observer.ts";

/** Counts by interval, for values that occur in few of them. */
type SparseCounts = Map<number, number>;

interface CountedValue {
  readonly value: StaticValue;
  readonly counts: SparseCounts;
  total: number;
}

interface CountedField {
  readonly values: Map<string, CountedValue>;
  readonly totals: SparseCounts;
  readonly exemplars: Exemplar[];
}

const metaLabel = "__meta_type";
/** What a counted value takes in memory, without its key. */
const bytesOfValue = 400;
const bytesOfCount = 48;
/** The cost of counting a value, in units of the budget. */
const workOfValue = 8;

export class CompareSeries implements SpanObserver {
  readonly #compare: MetricsCompare;
  readonly #context: ObserverContext;
  readonly #isSelected: Condition;
  readonly #fields = new SpanFields();
  readonly #baseline = new Map<string, CountedField>();
  readonly #selection = new Map<string, CountedField>();

  constructor(compare: MetricsCompare, context: ObserverContext) {
    this.#compare = compare;
    this.#context = context;
    const { condition } = compare.selection;
    this.#isSelected =
      condition === null ? () => true : compileCondition(condition, { budget: context.budget, jointEvents: false });
  }

  observe(view: TraceView, index: number, interval: number): void {
    const fields = this.#isInSelection(view, index) ? this.#selection : this.#baseline;
    const exemplar = this.#context.exemplars.offer(view, index, Number.NaN);
    this.#fields.forEach(view, index, (name, value) => {
      this.#context.budget.addWork(workOfValue);
      if (value.type === "duration") return;
      const field = this.#fieldOf(fields, name);
      const counted = this.#valueOf(field, value);
      counted.total++;
      this.#count(counted.counts, interval);
      this.#count(field.totals, interval);
      if (exemplar !== null && field.exemplars.at(-1) !== exemplar) field.exemplars.push(exemplar);
    });
  }

  #isInSelection(view: TraceView, index: number): boolean {
    const { endUnixNano, startUnixNano } = this.#compare;
    if (startUnixNano !== null && endUnixNano !== null && startUnixNano > 0n) {
      const time = view.spans[index]!.startUnixNano;
      if (time <= startUnixNano || time > endUnixNano) return false;
    }
    return this.#isSelected(view, index);
  }

  #fieldOf(fields: Map<string, CountedField>, name: string): CountedField {
    const known = fields.get(name);
    if (known !== undefined) return known;
    const field = { values: new Map<string, CountedValue>(), totals: new Map<number, number>(), exemplars: [] };
    fields.set(name, field);
    this.#context.budget.holdBytes(bytesOfValue + 2 * name.length);
    return field;
  }

  #valueOf({ values }: CountedField, value: StaticValue): CountedValue {
    const key = keyOf(value);
    const known = values.get(key);
    if (known !== undefined) return known;
    const counted = { value: labelValue(value), counts: new Map<number, number>(), total: 0 };
    values.set(key, counted);
    this.#context.budget.holdBytes(bytesOfValue + 4 * key.length);
    return counted;
  }

  #count(counts: SparseCounts, interval: number): void {
    const seen = counts.get(interval);
    if (seen === undefined) this.#context.budget.holdBytes(bytesOfCount);
    counts.set(interval, (seen ?? 0) + 1);
  }

  async result(): Promise<readonly Series[]> {
    const series: Series[] = [];
    await this.#addValues(series, "baseline", this.#baseline);
    await this.#addValues(series, "selection", this.#selection);
    await this.#addTotals(series, "baseline_total", this.#baseline);
    await this.#addTotals(series, "selection_total", this.#selection);
    return series;
  }

  /** The most frequent values of each field. */
  async #addValues(series: Series[], type: string, fields: ReadonlyMap<string, CountedField>): Promise<void> {
    for (const [name, { values }] of fields) {
      for (const { counts, value } of await this.#mostFrequent(values)) {
        series.push(await this.#series(type, name, { value, counts, exemplars: [] }));
      }
    }
  }

  async #mostFrequent(values: ReadonlyMap<string, CountedValue>): Promise<readonly CountedValue[]> {
    const counted = [...values.values()];
    const { topN } = this.#compare;
    if (counted.length <= topN) return counted;
    const byTotal = (left: CountedValue, right: CountedValue): number => right.total - left.total;
    return (await sortInSlices(counted, byTotal, this.#context.budget)).slice(0, topN);
  }

  async #addTotals(series: Series[], type: string, fields: ReadonlyMap<string, CountedField>): Promise<void> {
    for (const [name, { exemplars, totals }] of fields) {
      series.push(await this.#series(type, name, { value: stringValue("nil"), counts: totals, exemplars }));
    }
  }

  async #series(
    type: string,
    name: string,
    { counts, exemplars, value }: { value: StaticValue; counts: SparseCounts; exemplars: readonly Exemplar[] },
  ): Promise<Series> {
    const { budget, intervals } = this.#context;
    if (budget.spend(workOfLabels + intervals.count)) await budget.yield();
    budget.holdSamples(intervals.count);
    const values = new Float64Array(intervals.count);
    for (const [interval, count] of counts) values[interval] = count;
    const labels = [
      { name: metaLabel, value: stringValue(type) },
      { name, value },
    ];
    return { labels, values, exemplars };
  }
}

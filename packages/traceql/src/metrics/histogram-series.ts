/** Series from histograms of powers of two: one for each bucket, or one for each quantile. */
import { workOfLabels } from "@sounding/promql/evaluate/budget";
import { fieldReader, type Field } from "../spans/read-field.ts";
import type { NamedValue } from "../spans/spanset.ts";
import type { TraceView } from "../spans/trace-view.ts";
import type { SpanGridSeries } from "../storage.ts";
import type { MetricsAggregate } from "../syntax/ast.ts";
import { GroupIndex } from "./group-index.ts";
import { quantileOf, type Bucket } from "./log2-histogram.ts";
import { histogramBucket, isSpanDuration, measureOf, unitOf } from "./measure.ts";
import type { Exemplar, Series } from "./series.ts";
import type { GridObserver, ObserverContext } from "./span-observer.ts";

interface Counts {
  readonly max: number;
  readonly counts: Float64Array;
  readonly exemplars: Exemplar[];
}

interface Group {
  readonly labels: readonly NamedValue[];
  /** By their upper bounds. */
  readonly buckets: Map<number, Counts>;
}

const bucketLabel = "__bucket";
const quantileLabel = "p";
/** The cost of a quantile of one interval, in units of the budget. */
const workOfQuantile = 8;

export class HistogramSeries implements GridObserver {
  readonly #aggregate: MetricsAggregate & { readonly field: Field };
  readonly #context: ObserverContext;
  readonly #groups: GroupIndex<Group>;
  readonly #read: ReturnType<typeof fieldReader>;

  constructor(aggregate: MetricsAggregate & { readonly field: Field }, context: ObserverContext) {
    this.#aggregate = aggregate;
    this.#context = context;
    this.#read = fieldReader(aggregate.field);
    const create = (labels: readonly NamedValue[]): Group => ({ labels, buckets: new Map() });
    this.#groups = new GroupIndex({ by: aggregate.by, name: null, budget: context.budget, create });
  }

  observe(view: TraceView, index: number, interval: number): void {
    const bucket = this.#bucketOf(view, index);
    if (bucket === undefined) return;
    bucket.counts[interval]!++;
    this.#offer(bucket, view, index);
  }

  observeExemplar(view: TraceView, index: number): void {
    const bucket = this.#bucketOf(view, index);
    if (bucket !== undefined) this.#offer(bucket, view, index);
  }

  #bucketOf(view: TraceView, index: number): Counts | undefined {
    const max = histogramBucket(this.#read(view, index));
    return max === undefined ? undefined : this.#bucket(this.#groups.ofSpan(view, index), max);
  }

  #bucket({ buckets }: Group, max: number): Counts {
    const known = buckets.get(max);
    if (known !== undefined) return known;
    const { budget, intervals } = this.#context;
    budget.holdSamples(intervals.count);
    budget.addWork(workOfLabels + intervals.count);
    const bucket = { max, counts: new Float64Array(intervals.count), exemplars: [] };
    buckets.set(max, bucket);
    return bucket;
  }

  /** The series of a bucket are counts, and so are their exemplars. */
  #offer(bucket: Counts, view: TraceView, index: number): void {
    const { field, operator } = this.#aggregate;
    const measured = operator === "quantile_over_time" ? measureOf(this.#read(view, index)) : undefined;
    const value = measured === undefined ? Number.NaN : measured / unitOf(field);
    const exemplar = this.#context.exemplars.offer(view, index, value);
    if (exemplar !== null) bucket.exemplars.push(exemplar);
  }

  async addGrid(series: readonly SpanGridSeries[]): Promise<void> {
    const { budget, intervals } = this.#context;
    const unit = isSpanDuration(this.#aggregate.field) ? 1e9 : 1;
    for (const { bucket: max, by, present, values } of series) {
      if (max === null || max < 2) continue;
      if (budget.spend(workOfLabels + intervals.count)) await budget.yield();
      const bucket = this.#bucket(this.#groups.ofValues(by), max / unit);
      for (let interval = 0; interval < values.length; interval++) {
        if (present[interval] === 1) bucket.counts[interval]! += values[interval]!;
      }
    }
  }

  result(): Promise<readonly Series[]> {
    return this.#aggregate.operator === "quantile_over_time" ? this.#quantiles() : this.#counts();
  }

  async #counts(): Promise<readonly Series[]> {
    const { budget } = this.#context;
    const series: Series[] = [];
    for (const { buckets, labels } of this.#groups.groups) {
      if (budget.spend(workOfLabels * buckets.size)) await budget.yield();
      for (const { counts, exemplars, max } of sorted(buckets)) {
        series.push({
          labels: [...labels, { name: bucketLabel, value: { type: "float", value: max } }],
          values: counts,
          exemplars,
        });
      }
    }
    return series;
  }

  async #quantiles(): Promise<readonly Series[]> {
    const { quantiles } = this.#aggregate;
    const { budget } = this.#context;
    const merged = await this.#merged();
    const overall = quantiles.map((quantile) => quantileOf(quantile, merged));
    const series: Series[] = [];
    for (const { buckets: unsorted, labels } of this.#groups.groups) {
      const buckets = sorted(unsorted);
      const exemplars = buckets.flatMap((bucket) => bucket.exemplars);
      for (const [index, quantile] of quantiles.entries()) {
        if (budget.spend(workOfLabels)) await budget.yield();
        series.push({
          labels: [...labels, { name: quantileLabel, value: { type: "float", value: quantile } }],
          values: await this.#quantileOfEach(quantile, buckets),
          exemplars: exemplars.filter(({ value }) => closest(value, overall) === index),
        });
      }
    }
    return series;
  }

  /** 0 for intervals without spans. */
  async #quantileOfEach(quantile: number, buckets: readonly Counts[]): Promise<Float64Array> {
    const { budget, intervals } = this.#context;
    const { count } = intervals;
    budget.holdSamples(count);
    const values = new Float64Array(count);
    for (let interval = 0; interval < count; interval++) {
      if (budget.spend(workOfQuantile + buckets.length)) await budget.yield();
      const filled: Bucket[] = [];
      for (const { counts, max } of buckets) {
        if (counts[interval]! > 0) filled.push({ max, count: counts[interval]! });
      }
      if (filled.length > 0) values[interval] = quantileOf(quantile, filled);
    }
    return values;
  }

  /** The buckets of all groups and intervals. */
  async #merged(): Promise<readonly Bucket[]> {
    const { budget, intervals } = this.#context;
    const totals = new Map<number, number>();
    for (const { buckets } of this.#groups.groups) {
      if (budget.spend(intervals.count * buckets.size)) await budget.yield();
      for (const { counts, max } of buckets.values()) {
        totals.set(
          max,
          counts.reduce((total, each) => total + each, totals.get(max) ?? 0),
        );
      }
    }
    return [...totals].map(([max, count]) => ({ max, count })).sort((left, right) => left.max - right.max);
  }
}

function sorted(buckets: Group["buckets"]): readonly Counts[] {
  return [...buckets.values()].sort((left, right) => left.max - right.max);
}

/** The number of the value that is closest. */
function closest(value: number, candidates: readonly number[]): number {
  const distances = candidates.map((candidate) => Math.abs(value - candidate));
  return distances.indexOf(Math.min(...distances));
}

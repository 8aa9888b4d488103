/** A histogram with labels. https://prometheus.io/docs/concepts/metric_types/#histogram */
import { MetricSeries, type MetricOptions, type RenderedValue } from "./metric-series.ts";

interface HistogramSeries {
  readonly labels: Readonly<Record<string, string>>;
  /** Observations per bucket, not cumulative; those above the last bound are only in `count`. */
  readonly buckets: number[];
  sum: number;
  count: number;
}

export interface HistogramOptions extends MetricOptions {
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[];
}

export class Histogram {
  readonly #series: MetricSeries<HistogramSeries>;
  readonly #bounds: readonly number[];

  constructor(options: HistogramOptions) {
    const { buckets: bounds, name } = options;
    this.#bounds = bounds;
    this.#series = new MetricSeries(options, {
      type: "histogram",
      create: (labels) => ({ labels, buckets: bounds.map(() => 0), sum: 0, count: 0 }),
      render: (series) => renderSeries(name, bounds, series),
    });
  }

  /** @param labels values in the order of the label names */
  observe(value: number, ...labels: readonly string[]): void {
    const series = this.#series.get(labels);
    series.sum += value;
    series.count += 1;
    const bounds = this.#bounds;
    for (let index = 0; index < bounds.length; index += 1) {
      if (value > bounds[index]!) continue;
      series.buckets[index]! += 1;
      return;
    }
  }
}

function renderSeries(name: string, bounds: readonly number[], series: HistogramSeries): RenderedValue[] {
  const { labels: sharedLabels, buckets, sum, count } = series;
  let upToBound = 0;
  const values: RenderedValue[] = bounds.map((le, index) => {
    upToBound += buckets[index]!;
    return { metricName: `${name}_bucket`, labels: { le }, sharedLabels, value: upToBound };
  });
  return [
    ...values,
    { metricName: `${name}_bucket`, labels: { le: "+Inf" }, sharedLabels, value: count },
    { metricName: `${name}_sum`, labels: {}, sharedLabels, value: sum },
    { metricName: `${name}_count`, labels: {}, sharedLabels, value: count },
  ];
}

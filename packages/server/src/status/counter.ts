/** A counter with labels. https://prometheus.io/docs/concepts/metric_types/#counter */
import { MetricSeries, type MetricOptions } from "./metric-series.ts";

interface CounterSeries {
  readonly labels: Readonly<Record<string, string>>;
  value: number;
}

export class Counter {
  readonly #series: MetricSeries<CounterSeries>;

  constructor(options: MetricOptions) {
    this.#series = new MetricSeries(options, {
      type: "counter",
      create: (labels) => ({ labels, value: 0 }),
      render: ({ labels, value }) => [{ labels, value }],
    });
  }

  /** @param labels values in the order of the label names */
  add(amount: number, ...labels: readonly string[]): void {
    this.#series.get(labels).value += amount;
  }
}

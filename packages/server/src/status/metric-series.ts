/**
 * Keeps the series of one metric, found by their label values, and renders them for prom-client's registry. Values are
 * plain numbers, which are read at a scrape: prom-client would check and hash the labels of every observation.
 */
import type { Metric, Registry } from "prom-client";

export interface MetricOptions {
  readonly name: string;
  readonly help: string;
  /** At least one. */
  readonly labelNames: readonly string[];
  readonly registers: readonly Registry[];
}

/** A value as prom-client's registry renders it. */
export interface RenderedValue {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  /** Written after `labels`. */
  readonly sharedLabels?: Readonly<Record<string, string>>;
  readonly value: number;
}

type Level<Series> = Map<string, Level<Series> | Series>;

export class MetricSeries<Series> {
  readonly #labelNames: readonly string[];
  readonly #create: (labels: Readonly<Record<string, string>>) => Series;
  readonly #root: Level<Series> = new Map();
  readonly #all: Series[] = [];

  constructor(
    { name, help, labelNames, registers }: MetricOptions,
    kind: {
      readonly type: "counter" | "histogram";
      create(labels: Readonly<Record<string, string>>): Series;
      render(series: Series): readonly RenderedValue[];
    },
  ) {
    this.#labelNames = labelNames;
    this.#create = kind.create;
    const get = async () => ({
      name,
      help,
      type: kind.type,
      values: this.#all.flatMap((series) => kind.render(series)),
      aggregator: "sum",
    });
    // The registry calls nothing else; prom-client's types know only its own classes.
    const metric = { name, help, get } as unknown as Metric;
    for (const registry of registers) registry.registerMetric(metric);
  }

  /** @param values in the order of the label names */
  get(values: readonly string[]): Series {
    let found: Level<Series> | Series | undefined = this.#root;
    for (let index = 0; index < values.length && found !== undefined; index += 1)
      found = (found as Level<Series>).get(values[index]!);
    return (found as Series | undefined) ?? this.#add(values);
  }

  #add(values: readonly string[]): Series {
    const series = this.#create(Object.fromEntries(this.#labelNames.map((name, index) => [name, values[index]!])));
    this.#all.push(series);
    let level = this.#root;
    for (const value of values.slice(0, -1)) {
      const next = (level.get(value) as Level<Series> | undefined) ?? new Map();
      level.set(value, next);
      level = next;
    }
    level.set(values.at(-1)!, series);
    return series;
  }
}

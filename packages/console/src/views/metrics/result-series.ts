/** Results of queries as series of one chart: with short names, and values at common times. */
import { seriesColor } from "../../design/chart/chart-color.ts";
import type { ChartSeries } from "../../design/chart/chart-props.ts";
import type { HistogramJson, Labels, QueryAnswer, ResultJson } from "./prometheus.ts";

export interface ResultSeries {
  /** The same for the same series of the same query, for the legend's state in the address. */
  readonly key: string;
  /** Index of the query. */
  readonly query: number;
  readonly name: string;
  readonly labels: Labels;
  /** UNIX times in milliseconds. */
  readonly times: readonly number[];
  /** NaN where a sample is a histogram. */
  readonly values: readonly number[];
  readonly histograms: readonly (HistogramJson | undefined)[];
}

export interface ResultOfQuery {
  readonly query: string;
  readonly answer?: QueryAnswer;
  readonly error?: Error;
}

/** Names of queries: A, B, C, … */
export function letterOf(query: number): string {
  return String.fromCharCode(65 + query);
}

function isSingle(data: ResultJson): data is Extract<ResultJson, { readonly resultType: "scalar" | "string" }> {
  return data.resultType === "scalar" || data.resultType === "string";
}

export function toSeries(results: readonly ResultOfQuery[]): ResultSeries[] {
  const filled = results.filter(({ query }) => query.trim() !== "").length;
  return results.flatMap(({ answer, query }, index) => {
    if (answer === undefined) return [];
    const { data } = answer;
    const prefix = filled > 1 ? `${letterOf(index)}: ` : "";
    if (isSingle(data)) {
      const [atSeconds, value] = data.result;
      const one = { labels: {}, times: [atSeconds * 1000], values: [toNumber(value)], histograms: [undefined] };
      return [{ ...one, key: `${index}`, query: index, name: prefix + (data.resultType === "string" ? value : query) }];
    }
    const names = distinct(shortNames(data.result.map(({ metric }) => metric)));
    const keys = distinct(data.result.map(({ metric }) => clip(fullName(metric))));
    return data.result.map((series, at) => {
      const { histogram, histograms = [], metric, value, values = [] } = series;
      const floats = value === undefined ? values : [value];
      const distributions = histogram === undefined ? histograms : [histogram];
      const samples = [
        ...floats.map(([time, text]) => ({ time, value: toNumber(text), histogram: undefined })),
        ...distributions.map(([time, each]) => ({ time, value: Number.NaN, histogram: each })),
      ].toSorted((left, right) => left.time - right.time);
      const name = names[at] === "" ? clip(query) : names[at]!;
      return {
        key: `${letterOf(index)}:${keys[at]!}`,
        query: index,
        name: prefix + name,
        labels: metric,
        times: samples.map(({ time }) => Math.round(time * 1000)),
        values: samples.map((sample) => sample.value),
        histograms: samples.map((sample) => sample.histogram),
      };
    });
  });
}

/** Prometheus writes infinities as `+Inf` and `-Inf`. */
export function toNumber(text: string): number {
  return text.endsWith("Inf") ? (text.startsWith("-") ? -Infinity : Infinity) : Number(text);
}

/** What distinguishes the series: the values of one label, or the labels that differ. */
function shortNames(all: readonly Labels[]): string[] {
  const labels = new Set(all.flatMap((each) => Object.keys(each)));
  const differing = [...labels].filter((label) => new Set(all.map((each) => each[label])).size > 1).toSorted();
  const [only] = differing;
  if (all.length === 1) return all.map((each) => each["__name__"] ?? "");
  if (differing.length === 1) return all.map((each) => clip(each[only!] ?? `without ${only}`));
  return all.map((each) =>
    clip(differing.flatMap((label) => (each[label] === undefined ? [] : [`${label}=${each[label]}`])).join(", ")),
  );
}

/** Names that are the same once they are clipped get a number. */
function distinct(names: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return names.map((name) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name} (${count})`;
  });
}

/** `name{label="value"}`. */
export function fullName(labels: Labels): string {
  const { __name__: name = "", ...others } = labels;
  const pairs = Object.entries(others).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return pairs.length === 0 && name !== "" ? name : `${name}{${pairs.join(", ")}}`;
}

const maximumName = 160;

function clip(text: string): string {
  return text.length > maximumName ? `${text.slice(0, maximumName)}…` : text;
}

/** The times of all series, ascending. */
export function commonTimes(series: readonly ResultSeries[]): number[] {
  return [...new Set(series.flatMap(({ times }) => times))].sort((left, right) => left - right);
}

/** The values of a series at the times, null where it has none that can be drawn. */
export function chartSeries(
  series: readonly ResultSeries[],
  times: readonly number[],
  hidden: ReadonlySet<string>,
): ChartSeries[] {
  const positions = new Map(times.map((time, index) => [time, index]));
  return series.map(({ key, name, times: own, values }, index) => {
    const drawn: (number | null)[] = times.map(() => null);
    own.forEach((time, at) => {
      const value = values[at]!;
      drawn[positions.get(time)!] = Number.isFinite(value) ? value : null;
    });
    return { label: name, color: seriesColor(index), values: drawn, hidden: hidden.has(key) };
  });
}

/**
 * The annotations of a query's result: warnings for results that are probably wrong, infos for those that may be
 * unexpected. The texts are Prometheus' own (util/annotations), so dashboards and users recognize them.
 */
import { formatGeneral } from "../syntax/number-literal.ts";
import { lineAndColumn, type SourceRange } from "../syntax/source-range.ts";
import { quoteForMessage } from "../syntax/string-literal.ts";

export type Severity = "warning" | "info";

interface Annotation {
  readonly severity: Severity;
  readonly text: string;
  at: SourceRange;
  /** Details that grow while the same annotation is added again; shown before the position. */
  readonly details?: MonotonicityDetails;
  /** The number of occurrences is shown. */
  readonly isCounted?: boolean;
  occurrences: number;
}

/** Where the counts of classic buckets were corrected to be monotonic. */
export interface MonotonicityDetails {
  minTimeMs: number;
  maxTimeMs: number;
  minBucket: number;
  maxBucket: number;
  maxDifference: number;
}

/** The annotations of one query; the same text is kept once, where it was added last, as in Prometheus. */
export class Annotations {
  readonly #byText = new Map<string, Annotation>();

  warn(text: string, at: SourceRange): void {
    this.#add({ severity: "warning", text, at, occurrences: 1 });
  }

  inform(text: string, at: SourceRange): void {
    this.#add({ severity: "info", text, at, occurrences: 1 });
  }

  /** A warning that reports how often it occurred. */
  warnCounted(text: string, at: SourceRange): void {
    this.#add({ severity: "warning", text, at, isCounted: true, occurrences: 1 });
  }

  /** An info about forced monotonicity; ranges of time and buckets are merged. */
  informMonotonicity(text: string, at: SourceRange, details: MonotonicityDetails): void {
    this.#add({ severity: "info", text, at, details, occurrences: 1 });
  }

  #add(annotation: Annotation): void {
    const known = this.#byText.get(`${annotation.severity} ${annotation.text}`);
    if (known === undefined) {
      this.#byText.set(`${annotation.severity} ${annotation.text}`, annotation);
      return;
    }
    known.occurrences++;
    if (annotation.isCounted !== true && annotation.details === undefined) known.at = annotation.at;
    if (known.details === undefined || annotation.details === undefined) return;
    const { details } = known;
    const more = annotation.details;
    details.minTimeMs = Math.min(details.minTimeMs, more.minTimeMs);
    details.maxTimeMs = Math.max(details.maxTimeMs, more.maxTimeMs);
    details.minBucket = Math.min(details.minBucket, more.minBucket);
    details.maxBucket = Math.max(details.maxBucket, more.maxBucket);
    details.maxDifference = Math.max(details.maxDifference, more.maxDifference);
  }

  /** All of one severity with their positions in the query's text. */
  texts(severity: Severity, query: string): string[] {
    return [...this.#byText.values()]
      .filter((annotation) => annotation.severity === severity)
      .map((annotation) => {
        const details =
          annotation.details === undefined ? "" : printDetails(annotation.details, annotation.occurrences);
        const isRepeated = annotation.isCounted === true && annotation.occurrences > 1;
        const count = isRepeated ? ` (${annotation.occurrences} occurrences)` : "";
        const position = lineAndColumn(query, annotation.at.start);
        return `PromQL ${severity}: ${annotation.text}${details}${count} (${position})`;
      });
  }
}

function printDetails(details: MonotonicityDetails, samples: number): string {
  const time = (ms: number): string => new Date(Math.floor(ms / 1000) * 1000).toISOString().replace(".000Z", "Z");
  const buckets = `from buckets ${formatGeneral(details.minBucket)} to ${formatGeneral(details.maxBucket)}`;
  const difference = `with a max diff of ${twoDigits(details.maxDifference)}`;
  const span = `over ${samples} samples from ${time(details.minTimeMs)} to ${time(details.maxTimeMs)}`;
  return `, ${buckets}, ${difference}, ${span}`;
}

/** Go's `%.2g`: two digits, with an exponent from 100 on. */
function twoDigits(value: number): string {
  const rounded = Number(value.toPrecision(2));
  return rounded < 100 ? formatGeneral(rounded) : rounded.toExponential().replace(/e\+(\d)$/, "e+0$1");
}

const forMetric = (text: string, metric: string): string =>
  metric === "" ? text : `${text} for metric name ${quoteForMessage(metric)}`;

/** The texts by subject; `metric` may be empty. */
export const messages = {
  invalidQuantile: (quantile: number) => `quantile value should be between 0 and 1, got ${formatGeneral(quantile)}`,
  invalidRatio: (ratio: number, capped: number) =>
    `ratio value should be between -1 and 1, got ${formatGeneral(ratio)}, capping to ${formatGeneral(capped)}`,
  badBucketLabel: (metric: string, label: string) =>
    forMetric(`bucket label "le" is missing or has a malformed value of ${quoteForMessage(label)}`, metric),
  mixedFloatsHistograms: (metric: string) =>
    `encountered a mix of histograms and floats for metric name ${quoteForMessage(metric)}`,
  mixedFloatsHistogramsAggregation: () => "encountered a mix of histograms and floats for aggregation",
  mixedClassicNative: (metric: string) => forMetric("vector contains a mix of classic and native histograms", metric),
  notCounter: (metric: string) => `this native histogram metric is not a counter: ${quoteForMessage(metric)}`,
  notGauge: (metric: string) => `this native histogram metric is not a gauge: ${quoteForMessage(metric)}`,
  mixedBucketKinds: (metric: string) =>
    "vector contains a mix of histograms with exponential and custom buckets schemas for metric name " +
    quoteForMessage(metric),
  incompatibleBuckets: (operator: string) => `incompatible bucket layout encountered for binary operator ${operator}`,
  sortInRange: () => "sort is ineffective for range queries since results are always ordered by labels",
  possibleNonCounter: (metric: string) =>
    "metric might not be a counter, name does not end in _total/_sum/_count/_bucket: " + quoteForMessage(metric),
  forcedMonotonicity: (metric: string) =>
    forMetric(
      "input to histogram_quantile needed to be fixed for monotonicity " +
        "(see https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile)",
      metric,
    ),
  incompatibleTypes: (operator: string, left: string, right: string) =>
    `incompatible sample types encountered for binary operator "${operator}": ${left} ${operator} ${right}`,
  histogramIgnored: (aggregation: string) => `ignored histogram in ${aggregation} aggregation`,
  histogramIgnoredInRange: (metric: string) =>
    `ignored histograms in a range containing both floats and histograms for metric name ${quoteForMessage(metric)}`,
  quantileNanResult: (metric: string) =>
    forMetric("input to histogram_quantile has NaN observations, result is NaN", metric),
  quantileNanSkew: (metric: string) =>
    forMetric("input to histogram_quantile has NaN observations, result is skewed higher", metric),
  fractionNans: (metric: string) =>
    forMetric("input to histogram_fraction has NaN observations, which are excluded from all fractions", metric),
  resetCollision: (operation: HistogramOperation) => `conflicting counter resets during histogram ${operation}`,
  mismatchedBounds: (operation: HistogramOperation) => `mismatched custom buckets were reconciled during ${operation}`,
  startOverlap: (metric: string) =>
    `sample has start time that overlaps with previous sample timestamp for metric ${quoteForMessage(metric)}`,
} as const;

export type HistogramOperation = "addition" | "subtraction" | "aggregation";

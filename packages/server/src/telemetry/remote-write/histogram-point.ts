/**
 * Converts a native histogram to a data point of OTLP. Prometheus counts the bucket up to base^i as i, OTLP as i - 1.
 * https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/#exponential-histograms
 */
import { maximumBuckets, type WrittenBuckets, type WrittenHistogram } from "./written-histogram.ts";

/** The schema of histograms with custom buckets. */
export const customBucketsSchema = -53;
/** The schemas of exponential buckets. */
const [lowestSchema, highestSchema] = [-4, 8];

export type HistogramPoint = Readonly<Record<string, unknown>>;

/** Why the histogram cannot be stored, as the end of "1 sample …". */
export function histogramProblem(histogram: WrittenHistogram): string | undefined {
  const { count, isStale, negative, positive, schema, zeroCount } = histogram;
  if (isStale) return undefined;
  const isCustom = schema === customBucketsSchema;
  if (!isCustom && (schema < lowestSchema || schema > highestSchema)) {
    return `of a native histogram with the schema ${schema}; expected ${lowestSchema} to ${highestSchema} or ${customBucketsSchema}`;
  }
  const lengths = [positive, negative].map(({ counts, spans }) =>
    Math.max(extentOf(spans), spans.length, counts.length),
  );
  if (Math.max(...lengths, histogram.customBounds.length) > maximumBuckets)
    return `of a native histogram with more than ${maximumBuckets} buckets`;
  if (![count, zeroCount, ...positive.counts, ...negative.counts].every(isCount)) {
    return "of a native histogram whose counts are not whole numbers";
  }
  for (const { counts, spans } of [positive, negative]) {
    if (spans.reduce((sum, { length }) => sum + length, 0) !== counts.length) {
      return "of a native histogram whose spans and counts have different lengths";
    }
    if (spans.some(({ offset }, index) => index > 0 && offset < 0)) return "of a native histogram whose spans overlap";
  }
  if (isCustom && extentOf(positive.spans) + (positive.spans[0]?.offset ?? 0) > histogram.customBounds.length + 1) {
    return "of a native histogram with more counts than custom buckets";
  }
  return undefined;
}

/** How many numbers the point of the histogram has, with those of the buckets that its spans leave out. */
export function numberCount({ customBounds, negative, positive }: WrittenHistogram): number {
  return extentOf(positive.spans) + extentOf(negative.spans) + customBounds.length * 2;
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 0;
}

/** From the first bucket to the last. */
function extentOf(spans: WrittenBuckets["spans"]): number {
  return spans.reduce((sum, { length, offset }, index) => sum + length + (index === 0 ? 0 : Math.max(0, offset)), 0);
}

/** The fields of an explicit or an exponential histogram's point, without time and labels. */
export function histogramPoint(histogram: WrittenHistogram): HistogramPoint {
  const { count, customBounds, isStale, negative, positive, schema, sum, zeroCount, zeroThreshold } = histogram;
  if (isStale) return {};
  if (schema === customBucketsSchema) {
    const counts = denseCounts(positive);
    const before = Array.from({ length: positive.spans[0]?.offset ?? 0 }, () => 0);
    const after = customBounds.length + 1 - before.length - counts.length;
    const bucketCounts = [...before, ...counts, ...Array.from({ length: after }, () => 0)];
    return { count, sum, explicitBounds: customBounds, bucketCounts };
  }
  return {
    count,
    sum,
    scale: schema,
    zeroCount,
    zeroThreshold,
    positive: { offset: (positive.spans[0]?.offset ?? 1) - 1, bucketCounts: denseCounts(positive) },
    negative: { offset: (negative.spans[0]?.offset ?? 1) - 1, bucketCounts: denseCounts(negative) },
  };
}

/** The counts with zeros where spans leave buckets out. */
function denseCounts({ counts, spans }: WrittenBuckets): number[] {
  const dense: number[] = [];
  let at = 0;
  for (const [index, { length, offset }] of spans.entries()) {
    const skipped = index === 0 ? 0 : offset;
    for (let gap = 0; gap < skipped; gap += 1) dense.push(0);
    for (let bucket = 0; bucket < length; bucket += 1) dense.push(counts[at++]!);
  }
  return dense;
}

/** `load_with_nhcb`: native histograms with custom buckets from the classic histograms of a load. */
import {
  compactHistogram,
  customBucketsSchema,
  emptyHistogram,
  type FloatHistogram,
} from "../../src/histogram/float-histogram.ts";
import { dropLabels, getLabel, setLabels, type Labels } from "../../src/series/labels.ts";
import { parseNumber } from "../../src/syntax/number-literal.ts";
import type { MemorySample } from "../../src/memory-storage.ts";

export interface LoadedSeries {
  readonly labels: Labels;
  readonly samples: readonly MemorySample[];
}

interface ClassicSample {
  readonly buckets: Map<number, number>;
  count: number | null;
  sum: number;
}

interface ClassicHistogram {
  readonly labels: Labels;
  readonly byTime: Map<number, ClassicSample>;
}

/** The series and, for each classic histogram among them, one of native histograms. */
export function addCustomHistograms(series: readonly LoadedSeries[]): LoadedSeries[] {
  const classic = new Map<string, ClassicHistogram>();
  for (const one of series) collect(one, classic);
  const converted = [...classic.values()].map(({ byTime, labels }) => ({
    labels,
    samples: [...byTime.entries()]
      .sort(([left], [right]) => left - right)
      .map(([timeMs, sample]) => ({ timeMs, startMs: 0, value: 0, stale: false, histogram: convert(sample) })),
  }));
  return [...series, ...converted];
}

function collect({ labels, samples }: LoadedSeries, classic: Map<string, ClassicHistogram>): void {
  const match = /^(.*)_(bucket|count|sum)$/.exec(getLabel(labels, "__name__"));
  if (match === null) return;
  const kind = match[2]!;
  const bound = parseNumber(getLabel(labels, "le"));
  if (kind === "bucket" && (bound === undefined || Number.isNaN(bound))) return;
  const base = setLabels(dropLabels(labels, new Set(["le"])), new Map([["__name__", match[1]!]]));
  const histogram = classic.get(base.key) ?? { labels: base, byTime: new Map<number, ClassicSample>() };
  classic.set(base.key, histogram);
  for (const { timeMs, value, histogram: native } of samples) {
    if (native !== null) continue;
    const sample = histogram.byTime.get(timeMs) ?? { buckets: new Map<number, number>(), count: null, sum: 0 };
    histogram.byTime.set(timeMs, sample);
    if (kind === "bucket") sample.buckets.set(bound!, sample.buckets.get(bound!) ?? value);
    else if (kind === "count") sample.count = value;
    else sample.sum = value;
  }
}

function convert({ buckets, count, sum }: ClassicSample): FloatHistogram {
  const sorted = [...buckets.entries()].sort(([left], [right]) => left - right);
  const total = count ?? sorted.at(-1)?.[1] ?? 0;
  if (sorted.at(-1)?.[0] !== Infinity) sorted.push([Infinity, total]);
  return compactHistogram({
    ...emptyHistogram,
    schema: customBucketsSchema,
    count: total,
    sum,
    customValues: sorted.slice(0, -1).map(([bound]) => bound),
    positive: {
      indexes: sorted.map((_, index) => index),
      counts: sorted.map(([, cumulative], index) => cumulative - (sorted[index - 1]?.[1] ?? 0)),
    },
  });
}

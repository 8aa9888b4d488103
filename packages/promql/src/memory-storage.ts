/** A storage in memory, which keeps hints about counter resets as Prometheus' own store does. */
import { neverYield } from "./regex/yield-budget.ts";
import { isHistogramReset } from "./histogram/counter-reset.ts";
import { equalNumbers, type CounterResetHint, type FloatHistogram } from "./histogram/float-histogram.ts";
import { getLabel, type Labels } from "./series/labels.ts";
import { compileMatcher } from "./series/matcher.ts";
import { markStale, type PromqlStorage, type SelectRequest, type StoredSeries } from "./storage.ts";

export interface MemorySample {
  readonly timeMs: number;
  /** Since when a cumulative value has been counting; by default, unknown. */
  readonly startMs?: number;
  readonly value: number;
  /** The series ended here. */
  readonly stale?: boolean;
  /** Instead of the value. */
  readonly histogram?: FloatHistogram | null;
}

interface MemorySeries {
  readonly labels: Labels;
  readonly samples: MemorySample[];
}

export class MemoryStorage implements PromqlStorage {
  readonly #series = new Map<string, MemorySeries>();

  /** Times are Unix milliseconds, in any order. */
  add(labels: Labels, samples: readonly MemorySample[]): void {
    const known = this.#series.get(labels.key);
    const times = new Set(known?.samples.map(({ timeMs }) => timeMs));
    // Of two samples at one time, the first one wins.
    const added = samples.filter(({ timeMs }) => !times.has(timeMs));
    const merged = [...(known?.samples ?? []), ...added].sort((left, right) => left.timeMs - right.timeMs);
    this.#series.set(labels.key, { labels, samples: merged });
  }

  select(request: SelectRequest): Promise<readonly StoredSeries[]> {
    const matchers = request.matchers.map((matcher) => {
      const compiled = compileMatcher(matcher);
      if ("problem" in compiled) throw new Error(compiled.problem);
      return { name: matcher.name, matches: compiled.matches };
    });
    const found = [...this.#series.values()]
      .filter(({ labels }) =>
        matchers.every(({ name, matches }) => matches(getLabel(labels, name), neverYield) === true),
      )
      .map((series) => toStored(series, request))
      .filter(({ timestampsMs }) => timestampsMs.length > 0);
    return Promise.resolve(found);
  }
}

function toStored({ labels, samples }: MemorySeries, { fromMs, toMs }: SelectRequest): StoredSeries {
  const histograms = withStoredHints(samples);
  const wanted = samples.flatMap(({ timeMs }, index) => (timeMs >= fromMs && timeMs <= toMs ? [index] : []));
  const values = Float64Array.from(wanted, (index) => samples[index]!.value);
  for (const [position, index] of wanted.entries()) {
    if (samples[index]!.stale === true) markStale(values, position);
  }
  return {
    labels,
    timestampsMs: Float64Array.from(wanted, (index) => samples[index]!.timeMs),
    values,
    startTimestampsMs: Float64Array.from(wanted, (index) => samples[index]!.startMs ?? 0),
    histograms: histograms.some((value) => value !== null) ? wanted.map((index) => histograms[index]!) : undefined,
  };
}

/**
 * Prometheus stores histograms in chunks that end at a counter reset or a changed layout. When read, a chunk's first
 * histogram has an unknown reset hint, and the others are marked as no resets.
 */
function withStoredHints(samples: readonly MemorySample[]): readonly (FloatHistogram | null)[] {
  let previous: FloatHistogram | null = null;
  return samples.map(({ histogram = null }) => {
    const value: FloatHistogram | null =
      histogram === null ? null : { ...histogram, counterResetHint: storedHint(histogram, previous) };
    previous = histogram;
    return value;
  });
}

function storedHint(histogram: FloatHistogram, previous: FloatHistogram | null): CounterResetHint {
  if (histogram.counterResetHint === "gauge") return "gauge";
  const isFirst =
    previous === null ||
    previous.counterResetHint === "gauge" ||
    histogram.counterResetHint === "reset" ||
    histogram.schema !== previous.schema ||
    histogram.zeroThreshold !== previous.zeroThreshold ||
    !equalNumbers(histogram.customValues, previous.customValues) ||
    isHistogramReset({ ...histogram, counterResetHint: "unknown" }, previous);
  return isFirst ? "unknown" : "not_reset";
}

/** Builds series in the column format of the PromQL engine. */
import { longStep, CooperativeYield } from "../../../scheduling/cooperative-yield.ts";
import type { FloatHistogram } from "@sounding/promql/histogram/float-histogram";
import type { Labels } from "@sounding/promql/series/labels";
import { markStale, type StoredSeries } from "@sounding/promql/storage";

export interface Sample {
  readonly timeMs: number;
  /** 0 when unknown. */
  readonly startMs: number;
  readonly isStale: boolean;
  readonly value: number;
  readonly histogram?: FloatHistogram | null;
}

/** A series of samples, which must be in order of time; empty if there are no samples. */
export function buildSeries(labels: Labels, samples: readonly Sample[]): StoredSeries[] {
  if (samples.length === 0) return [];
  const values = Float64Array.from(samples, ({ value }) => value);
  for (const [index, { isStale }] of samples.entries()) if (isStale) markStale(values, index);
  const hasStarts = samples.some(({ startMs }) => startMs !== 0);
  const hasHistograms = samples.some(({ histogram }) => histogram != null);
  return [
    {
      labels,
      timestampsMs: Float64Array.from(samples, ({ timeMs }) => timeMs),
      values,
      startTimestampsMs: hasStarts ? Float64Array.from(samples, ({ startMs }) => startMs) : undefined,
      histograms: hasHistograms ? samples.map(({ histogram }) => histogram ?? null) : undefined,
    },
  ];
}

/** Merges series with the same labels, sent by processes that cannot be distinguished. */
export async function mergeSeries(series: readonly StoredSeries[]): Promise<StoredSeries[]> {
  const byLabels = new Map<string, StoredSeries[]>();
  const yielder = new CooperativeYield();
  for (const each of series) {
    const group = byLabels.get(each.labels.key);
    if (group === undefined) byLabels.set(each.labels.key, [each]);
    else group.push(each);
    if (yielder.isDue()) await yielder.yield();
  }
  const all: StoredSeries[] = [];
  for (const group of byLabels.values()) {
    all.push(group.length === 1 ? group[0]! : merged(group));
    if (yielder.isDue(group.length === 1 ? 1 : longStep)) await yielder.yield();
  }
  return all;
}

function merged(group: readonly StoredSeries[]): StoredSeries {
  const order = group
    .flatMap((each) => Array.from(each.timestampsMs, (timeMs, index) => ({ each, index, timeMs })))
    .sort((left, right) => left.timeMs - right.timeMs);
  const kept = order.filter(({ timeMs }, at) => order[at + 1]?.timeMs !== timeMs);
  return {
    labels: group[0]!.labels,
    timestampsMs: Float64Array.from(kept, ({ timeMs }) => timeMs),
    values: Float64Array.from(kept, ({ each, index }) => each.values[index]!),
    startTimestampsMs: Float64Array.from(kept, ({ each, index }) => each.startTimestampsMs?.[index] ?? 0),
    histograms: group.some(({ histograms }) => histograms !== undefined)
      ? kept.map(({ each, index }) => each.histograms?.[index] ?? null)
      : undefined,
  };
}

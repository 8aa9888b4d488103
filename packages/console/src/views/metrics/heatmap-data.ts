/** The cells of a heat map: how many observations were in each bucket at each time. */
import type { HistogramJson } from "./prometheus.ts";
import { commonTimes, toNumber, type ResultSeries } from "./result-series.ts";

export interface Heatmap {
  /** UNIX times in milliseconds, ascending. */
  readonly times: readonly number[];
  /** Ranges of values, ascending. */
  readonly buckets: readonly { readonly lower: number; readonly upper: number }[];
  /** For each bucket, the count at each time. */
  readonly counts: readonly Float64Array[];
  /** The greatest of all counts. */
  readonly greatest: number;
}

/** More rows than pixels cannot be seen. */
const maximumBuckets = 160;

/** The sum over all series that are histograms: classic ones by their label `le`, and native ones. Undefined without any. */
export function toHeatmap(series: readonly ResultSeries[]): Heatmap | undefined {
  const classic = series.filter(({ labels }) => labels["le"] !== undefined);
  const native = series.filter(({ histograms }) => histograms.some((each) => each !== undefined));
  if (classic.length === 0 && native.length === 0) return undefined;
  const times = commonTimes([...classic, ...native]);
  const rows = new Map<string, { lower: number; upper: number; counts: Float64Array }>();
  const add = (lower: number, upper: number, { at, count }: { at: number; count: number }): void => {
    if (!(count > 0)) return;
    const key = `${lower} ${upper}`;
    const row = rows.get(key) ?? { lower, upper, counts: new Float64Array(times.length) };
    rows.set(key, row);
    row.counts[at]! += count;
  };
  const positions = new Map(times.map((time, index) => [time, index]));
  addClassic(classic, { positions, add });
  for (const one of native) {
    one.histograms.forEach((histogram, index) => {
      const at = positions.get(one.times[index]!)!;
      for (const [lower, upper, count] of bucketsOf(histogram)) add(lower, upper, { at, count });
    });
  }
  const sorted = [...rows.values()].toSorted((left, right) => left.upper - right.upper || left.lower - right.lower);
  const shown = merged(sorted);
  return {
    times,
    buckets: shown,
    counts: shown.map(({ counts }) => counts),
    greatest: shown.reduce((most, { counts }) => counts.reduce((high, count) => Math.max(high, count), most), 0),
  };
}

interface Cells {
  readonly positions: ReadonlyMap<number, number>;
  readonly add: (lower: number, upper: number, cell: { at: number; count: number }) => void;
}

/** Classic buckets are cumulative: each contains those below it. */
function addClassic(series: readonly ResultSeries[], { add, positions }: Cells): void {
  const byBound = new Map<number, Float64Array>();
  for (const { labels, times, values } of series) {
    const bound = toNumber(labels["le"]!);
    const sums = byBound.get(bound) ?? new Float64Array(positions.size);
    byBound.set(bound, sums);
    times.forEach((time, index) => {
      const value = values[index]!;
      if (Number.isFinite(value)) sums[positions.get(time)!]! += value;
    });
  }
  const bounds = [...byBound.keys()].filter((bound) => !Number.isNaN(bound)).toSorted((left, right) => left - right);
  bounds.forEach((upper, index) => {
    const lower = index === 0 ? Math.min(0, upper) : bounds[index - 1]!;
    const below = index === 0 ? undefined : byBound.get(lower);
    byBound.get(upper)!.forEach((sum, at) => add(lower, upper, { at, count: sum - (below?.[at] ?? 0) }));
  });
}

function bucketsOf(histogram: HistogramJson | undefined): [lower: number, upper: number, count: number][] {
  return (histogram?.buckets ?? []).map(([, lower, upper, count]) => [
    toNumber(lower),
    toNumber(upper),
    toNumber(count),
  ]);
}

type Row = { lower: number; upper: number; counts: Float64Array };

/** Joins neighbours until the rows can be told apart. */
function merged(rows: readonly Row[]): readonly Row[] {
  const together = Math.ceil(rows.length / maximumBuckets);
  if (together <= 1) return rows;
  return Array.from({ length: Math.ceil(rows.length / together) }, (_, index) => {
    const group = rows.slice(index * together, (index + 1) * together);
    const counts = new Float64Array(group[0]!.counts.length);
    for (const each of group) each.counts.forEach((count, at) => (counts[at]! += count));
    return { lower: group[0]!.lower, upper: group.at(-1)!.upper, counts };
  });
}

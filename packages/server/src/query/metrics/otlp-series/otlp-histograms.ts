/** Reads points of OTLP's explicit-bounds histograms as columns, and derives the `_bucket`, `_sum` and `_count` values. */
import { longStep, CooperativeYield } from "../../../scheduling/cooperative-yield.ts";
import type { ListColumn } from "../../../store/native-reader.ts";
import { sql } from "../../../store/statement.ts";
import type { TenantReader } from "../../../store/store.ts";
import { hasStarts, listOf, offsetOf, pointCondition, timeColumnsOf, type PointsRequest } from "./otlp-points.ts";
import { inTimeOrder, type ValueColumns } from "./value-columns.ts";

/** All points of one series that have the same bounds. */
export interface HistogramColumns {
  readonly times: Omit<ValueColumns, "values">;
  /** Upper bounds in rising order, without infinity. */
  readonly bounds: Float64Array;
  readonly counts: Float64Array;
  readonly sums: Float64Array;
  /** For each point its bucket counts, one more than bounds; empty unless requested. */
  readonly bucketCounts: Float64Array;
}

/** By series ID; one entry for each list of bounds that occurs in the series. */
export async function readHistograms(
  reader: TenantReader,
  request: PointsRequest,
  { withBuckets }: { withBuckets: boolean },
): Promise<Map<string, HistogramColumns[]>> {
  const buckets = withBuckets
    ? sql`arrayMap(each -> toFloat64(each), arrayResize(counts, length(bounds) + 1))`
    : sql`CAST([], 'Array(Float64)')`;
  const blocks = await reader.columns(
    sql`SELECT series_id, bounds, points.1 AS times, points.2 AS point_counts, points.3 AS sums,
        if(has_starts, points.4, []) AS starts, if(has_stale, points.5, []) AS stale, arrayFlatten(points.6) AS bucket_counts
      FROM (
        SELECT series_id, bounds, ${hasStarts} AS has_starts, max(bitAnd(flags, 1)) AS has_stale,
          groupArray((${offsetOf(request)}, toFloat64(count), sum, toUnixTimestamp64Nano(start_time), bitAnd(flags, 1), ${buckets})) AS points
        FROM distribution_points WHERE ${pointCondition(request)} GROUP BY series_id, bounds
      )`,
    { signal: request.signal, memory: { add: request.charge }, duplicates: "kept", maximumRows: request.maxSeries },
  );
  const found = new Map<string, HistogramColumns[]>();
  const yielder = new CooperativeYield();
  for (const { columns } of blocks) {
    const list = (name: string, row: number): Float64Array =>
      listOf(columns.get(name) as ListColumn, row) as Float64Array;
    for (const [row, id] of (columns.get("series_id") as BigUint64Array).entries()) {
      const one: HistogramColumns = {
        times: timeColumnsOf(columns, row, request.fromMs),
        bounds: list("bounds", row),
        counts: list("point_counts", row),
        sums: list("sums", row),
        bucketCounts: list("bucket_counts", row),
      };
      const known = found.get(String(id));
      if (known === undefined) found.set(String(id), [one]);
      else known.push(one);
      if (yielder.isDue(longStep)) await yielder.yield();
    }
  }
  return found;
}

/** The union of all points' bounds, including infinity. */
export function boundsOf(groups: readonly HistogramColumns[]): number[] {
  const bounds = new Set(groups.flatMap((group) => [...group.bounds]));
  return [...bounds.add(Infinity)].sort((left, right) => left - right);
}

/** The counts or sums of all points. */
export function totalsOf(groups: readonly HistogramColumns[], part: "counts" | "sums"): ValueColumns {
  return joined(groups, (group) => group[part]);
}

/** Observations at or below a bound; for points without that bound, those at or below the next lower one. */
export function countsUpTo(groups: readonly HistogramColumns[], bound: number): ValueColumns {
  return joined(groups, ({ bounds, bucketCounts, counts }) => {
    if (bound === Infinity) return counts;
    const stride = bounds.length + 1;
    const buckets = bounds.filter((each) => each <= bound).length;
    return counts.map((_, point) => {
      let sum = 0;
      for (let bucket = 0; bucket < buckets; bucket++) sum += bucketCounts[point * stride + bucket]!;
      return sum;
    });
  });
}

function joined(
  groups: readonly HistogramColumns[],
  valuesOf: (group: HistogramColumns) => Float64Array,
): ValueColumns {
  if (groups.length === 1) return inTimeOrder({ ...groups[0]!.times, values: valuesOf(groups[0]!).slice() });
  const all = (lists: readonly (Float64Array | Uint8Array)[]): number[] => lists.flatMap((list) => [...list]);
  const zeros = ({ counts }: HistogramColumns): Float64Array => new Float64Array(counts.length);
  return inTimeOrder({
    timestampsMs: Float64Array.from(all(groups.map(({ times }) => times.timestampsMs))),
    values: Float64Array.from(all(groups.map(valuesOf))),
    startTimestampsMs: Float64Array.from(all(groups.map((group) => group.times.startTimestampsMs ?? zeros(group)))),
    stale: Uint8Array.from(all(groups.map((group) => group.times.stale ?? zeros(group)))),
  });
}
